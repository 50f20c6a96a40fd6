"""`talaria serve`: the server as a process."""

import asyncio
import os
import sys
from threading import Timer

import structlog

from talaria.cli.overview import overview, screen
from talaria.runtime.configure import read_settings
from talaria.runtime.runtime import Runtime
from talaria.runtime.settings import Settings
from talaria.server.library_logs import forward_library_logs
from talaria.server.listen import loop_factory, open_socket
from talaria.server.listen import serve as serve_on
from talaria.telemetry.logs import set_up_logs

DEAF = 3.0
"""Seconds that a tool which does not hear its cancellation can hold up the end, once everything is closed."""
_log = structlog.get_logger("talaria.server")


def serve(config: str | None, host: str | None, port: int | None) -> int:
    """Serve until a signal; return the exit code.

    Raises:
        ConfigurationError: the configuration is wrong, or the address cannot be listened on.
    """
    settings = _settings(config, host, port)
    set_up_logs(settings.telemetry.logs)
    forward_library_logs()
    deaf = Timer(DEAF, os._exit, (0,))
    deaf.daemon = True
    with open_socket(settings) as listening, asyncio.Runner(loop_factory=loop_factory()) as runner:
        runtime = Runtime(settings)
        runner.run(serve_on(runtime, listening, lambda url: _announce(runtime, url)))
        deaf.start()
    deaf.cancel()
    return 0


def _settings(config: str | None, host: str | None, port: int | None) -> Settings:
    settings = read_settings(config)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})


def _announce(runtime: Runtime, url: str) -> None:
    lines = overview(runtime.settings, runtime.parts.kit.catalog, runtime.parts.sandboxes, url)
    if runtime.settings.telemetry.logs == "json":
        _log.info("serving", **{line.name: line.text for line in lines})
    else:
        print(screen(lines), file=sys.stderr, flush=True)
    print(f"Talaria listens on {url}", flush=True)
