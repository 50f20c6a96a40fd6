"""`talaria serve`: the server as a process."""

import asyncio

from talaria.runtime.configure import read_settings
from talaria.runtime.runtime import Runtime
from talaria.runtime.settings import Settings
from talaria.server.library_logs import forward_library_logs
from talaria.server.listen import loop_factory, open_socket
from talaria.server.listen import serve as serve_on
from talaria.telemetry.logs import set_up_logs


def serve(config: str | None, host: str | None, port: int | None) -> int:
    """Serve until a signal; return the exit code.

    Raises:
        ConfigurationError: the configuration is wrong, or the address cannot be listened on.
    """
    settings = _settings(config, host, port)
    set_up_logs(settings.telemetry.logs)
    forward_library_logs()
    with open_socket(settings) as listening, asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve_on(Runtime(settings), listening, _announce))
    return 0


def _settings(config: str | None, host: str | None, port: int | None) -> Settings:
    settings = read_settings(config)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})


def _announce(url: str) -> None:
    print(f"Talaria listens on {url}", flush=True)
