"""Listening: a socket, uvicorn, and an orderly end on signals."""

import asyncio
import gc
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address

import structlog
import uvicorn

from talaria.core.errors import ConfigurationError
from talaria.runtime.runtime import Runtime
from talaria.runtime.settings import Settings
from talaria.server.app import Application, make_app

BACKLOG = 2048
PATIENCE = 5
"""Seconds that connections get to take what is written to them when the server ends."""

AT_ONCE = 2.0
"""Seconds after which a process that was told twice to stop is gone, whatever its tasks do."""

_log = structlog.get_logger("talaria.server")


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The fastest event loop that is there."""
    return uvicorn.Config("", loop="auto", log_config=None).get_loop_factory()


def open_socket(settings: Settings) -> socket.socket:
    """Return a socket that is bound to the configured host and port (0: any free one).

    Raises:
        ConfigurationError: it cannot be, or must not be without authentication.
    """
    host, port = settings.server.host, settings.server.port
    if settings.auth.kind == "none" and not is_loopback(host):
        raise ConfigurationError(
            f"server.host: '{host}' can be reached from outside, and auth.kind is none; set auth.kind to keys and give "
            "everybody one (auth.keys), or to jwt, or listen on 127.0.0.1 and put whatever authenticates in front of "
            "it there"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"server.host, server.port: cannot listen on {host}:{port}: {error.strerror}; stop what listens there, or "
            "take another port (--port)"
        ) from error


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def address(listening: socket.socket) -> str:
    """The URL of a listening socket, with its real port."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Uvicorn, which tells when it is ready and leaves signals to us."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _spare_collector()
        self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _spare_collector() -> None:
    """What is there once the server has started stays: the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 50)


class _Stops:
    """Requests to stop: the first one asks, the second one insists, and then there is little patience left."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.insisted = asyncio.Event()

    def __call__(self) -> None:
        if self.asked.is_set() and not self.insisted.is_set():
            self.insisted.set()
            asyncio.get_running_loop().call_later(AT_ONCE, os._exit, 0)
        self.asked.set()


async def serve(runtime: Runtime, listening: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve `runtime` on a socket until SIGTERM or SIGINT, then end in order; `ready` is told the URL.

    Runs get `server.grace` seconds; what then still runs resumes at the next start. A second signal stops at once.
    """
    where = address(listening)
    async with runtime:
        await runtime.parts.sandboxes.look()
        app = make_app(runtime)
        server = _Server(_config(app), lambda: ready(where))
        with _signals() as stops:
            serving = asyncio.create_task(server.serve([listening]), name="serve")
            if await _comes_first(stops.asked, serving):
                await _wind_down(app, stops, runtime.settings.server.grace)
            server.force_exit = stops.insisted.is_set()
            server.should_exit = True
            await serving


@asynccontextmanager
async def served(runtime: Runtime, listening: socket.socket) -> AsyncGenerator[str]:
    """Serve `runtime` on a socket while the block runs, and give the URL. What then still runs resumes next time."""
    async with runtime:
        app, ready = make_app(runtime), asyncio.Event()
        server = _Server(_config(app), ready.set)
        serving = asyncio.create_task(server.serve([listening]), name="serve")
        try:
            if not await _comes_first(ready, serving):
                await serving
            yield address(listening)
        finally:
            await app.stop(0.0)
            server.should_exit = True
            await serving


def _config(app: Application) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=PATIENCE,
    )


async def _wind_down(app: Application, stops: _Stops, grace: float) -> None:
    _log.info("stopping", grace=grace, streams=len(app.streams))
    stopping = asyncio.create_task(app.stop(grace), name="stop")
    if await _comes_first(stops.insisted, stopping):
        stopping.cancel()
        app.streams.end_all()
    else:
        await stopping


async def _comes_first(event: asyncio.Event, task: "asyncio.Task[None]") -> bool:
    """Wait for either, and tell whether it was the event."""
    waiter = asyncio.create_task(event.wait())
    try:
        await asyncio.wait((task, waiter), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiter.cancel()
    return not task.done()


@contextmanager
def _signals() -> Generator[_Stops]:
    loop, stops = asyncio.get_running_loop(), _Stops()
    kinds = (signal.SIGTERM, signal.SIGINT)
    for kind in kinds:
        loop.add_signal_handler(kind, stops)
    try:
        yield stops
    finally:
        for kind in kinds:
            loop.remove_signal_handler(kind)
