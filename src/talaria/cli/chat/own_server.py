"""A server of one's own: in this process, on a free port of loopback, for as long as the chat lasts."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from talaria.cli.chat.places import log_file
from talaria.runtime.configure import read_settings
from talaria.runtime.runtime import Runtime
from talaria.server.library_logs import forward_library_logs
from talaria.server.listen import open_socket, served
from talaria.telemetry.logs import set_up_logs


@asynccontextmanager
async def own_server(config: str | None) -> AsyncGenerator[str]:
    """Serve what a configuration describes while the block runs, and give the URL; it logs to a file.

    Raises:
        ConfigurationError: the configuration is wrong.
    """
    settings = read_settings(config)
    here = settings.server.model_copy(update={"host": "127.0.0.1", "port": 0})
    settings = settings.model_copy(update={"server": here})
    with log_file().open("a", encoding="utf-8", buffering=1) as log:
        set_up_logs(settings.telemetry.logs, out=log)
        forward_library_logs()
        with open_socket(settings) as listening:
            async with served(Runtime(settings), listening) as url:
                yield url
