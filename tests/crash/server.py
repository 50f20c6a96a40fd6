"""A real server in a process of its own, watched, that ends itself where it is told to."""

import asyncio
import faulthandler
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import msgspec
import structlog

from talaria import Agent, Runtime, agent
from talaria.models.gateway import Gateway
from talaria.models.http import AioHttpTransport
from talaria.ports.store import Store
from talaria.runtime import build
from talaria.runtime.clock import SystemClock
from talaria.runtime.configure import read_settings
from talaria.runtime.routes import make_routes
from talaria.server import listen
from talaria.server.app import Application
from talaria.server.library_logs import forward_library_logs
from talaria.telemetry.logs import set_up_logs
from tests.crash.effects import EffectLog
from tests.crash.keeper import Keeper
from tests.crash.points import Kill, Points
from tests.crash.scenario import Workshop
from tests.crash.watched import WatchedApplication, WatchedModel, watch_store

DATABASE, EFFECTS, REACHED, LOG = "talaria.db", "effects.jsonl", "points.txt", "server.log"


class Start(msgspec.Struct, frozen=True):
    """How a server is started: in which folder, with which model behind it, and where it ends."""

    id: int
    folder: str
    model_url: str
    kill: Kill | None = None
    grace: float = 2.0


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is told of the server with this id: its pid, the port that it listens on, or how it ended."""

    id: int
    pid: int = 0
    port: int = 0
    status: int | None = None


def say(file: int, said: Said) -> None:
    """Write a line that no other process's can mix with."""
    os.write(file, msgspec.json.encode(said) + b"\n")


def warm() -> None:
    """Import everything that a server needs, and that would otherwise be imported by each."""
    nowhere = Path(os.devnull)
    Workshop(EffectLog(nowhere), Points(nowhere, None)).tools()
    for name in ("talaria.stores.sqlite.store", "uvicorn.lifespan.off", "uvicorn.protocols.http.auto"):
        import_module(name)
    listen.loop_factory()
    SystemClock()


def serve(start: Start, out: int) -> None:
    """Serve until a signal; says its port on `out`."""
    folder = Path(start.folder)
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    faulthandler.register(signal.SIGUSR1)
    set_up_logs("json")
    forward_library_logs()
    points = Points(folder / REACHED, start.kill)
    points.reach("start.began")
    with asyncio.Runner(loop_factory=listen.loop_factory()) as runner:
        runner.run(_serve(start, points, out))
    structlog.get_logger("crash").info("ended")


async def _serve(start: Start, points: Points, out: int) -> None:
    settings = read_settings(
        {
            "server": {"port": 0, "grace": start.grace},
            "store": {"url": f"sqlite:///{start.folder}/{DATABASE}"},
            "models": [{"prefix": "", "baseUrl": start.model_url, "retries": 0}],
            "defaultModel": "scripted",
        }
    )
    tools = Workshop(EffectLog(Path(start.folder) / EFFECTS), points).tools()
    shop = Agent("shop", instructions="You run a shop.", tools=tools)
    transport = AioHttpTransport()
    model = WatchedModel(Gateway(make_routes(settings.models), transport, SystemClock()), points)
    build.open_store = _open_watched(points)
    listen.make_app = partial(_make_app, points)
    with listen.open_socket(settings) as listening:
        said = Said(start.id, port=int(listening.getsockname()[1]))
        await listen.serve(
            Runtime(settings, agents=[shop, agent(Keeper)], model=model), listening, lambda _: _ready(points, out, said)
        )
    await transport.close()


def _ready(points: Points, out: int, said: Said) -> None:
    points.reach("start.listening")
    say(out, said)


def _open_watched(points: Points) -> Callable[..., Awaitable[Store]]:
    open_store = build.open_store

    async def watched(url: str, *, owner: bool = True) -> Store:
        store = watch_store(await open_store(url, owner=owner), points)
        points.reach("start.opened")
        return store

    return watched


def _make_app(points: Points, runtime: Runtime) -> Application:
    return WatchedApplication(runtime, points)
