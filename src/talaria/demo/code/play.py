"""Plays a demo that needs a sandbox: starts the model and the server, lets the demo visit, and leaves nothing."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import ClientSession

from talaria.demo.checks import Check
from talaria.demo.code.options import CodeOptions
from talaria.demo.code.turn import Visitor
from talaria.demo.processes import Children, children
from talaria.demo.screen import Screen
from talaria.demo.show import Show
from talaria.demo.workspace import CONFIGURATION, Workspace

MODEL = "scripted-programmer"
SCRIPTS = "talaria.testing.code_demos"
_READ_BUFFER = 1024 * 1024

Visit = Callable[[Visitor, Screen, CodeOptions], Awaitable[list[Check]]]


class NoSandbox(Exception):
    """The server has no sandboxes here."""


def code_configuration(options: CodeOptions) -> dict[str, object]:
    """The server's configuration: all as it is by default, but for the model."""
    return {
        "server": {"grace": 2},
        "store": {"url": "sqlite:///./talaria.db"},
        "sandbox": {"kind": options.sandbox} | ({"root": options.root} if options.root else {}),
        "models": [{"prefix": "", "dialect": "openai", "baseUrl": "${DEMO_MODEL_URL}"}],
        "defaultModel": MODEL,
    }


async def play_code(options: CodeOptions, place: Workspace, screen: Screen, visit: Visit) -> list[Check]:
    """Let the demo visit a server; return its check list.

    Raises:
        NoSandbox: none can be had here.
        StartError: a process did not start. AskError: the server refused something.
        TimeoutError: it took longer than `options.limit`.
    """
    async with (
        children(place.environ, place.folder, place.log) as processes,
        ClientSession(read_bufsize=_READ_BUFFER) as http,
    ):
        async with asyncio.timeout(options.limit):
            address = await _start(options, processes)
            screen.note(f"talaria serve {address}")
            visitor = Visitor(http, address, f"demo-{options.name}", Show(screen).event)
            if not await visitor.has_sandboxes():
                raise NoSandbox
        async with _leaving(visitor):
            async with asyncio.timeout(options.limit):
                checks = judged(screen, await visit(visitor, screen, options))
            if options.stays:
                screen.note("Ctrl-C ends it")
                await asyncio.Event().wait()
            return checks


@asynccontextmanager
async def _leaving(visitor: Visitor) -> AsyncGenerator[None]:
    """Whatever happens inside, the session goes afterwards, with its sandbox."""
    try:
        yield
    finally:
        await visitor.leave()


async def _start(options: CodeOptions, processes: Children) -> str:
    script = f"{SCRIPTS}.{options.name}:script"
    model = await processes.listening(("-m", "talaria.testing.model_server", "--script", script))
    serve = ("-m", "talaria", "serve", "--config", CONFIGURATION, "--port", "0")
    return await processes.listening(serve, {"DEMO_MODEL_URL": f"{model}/v1"})


def judged(screen: Screen, checks: list[Check]) -> list[Check]:
    """Show a check list, and what it comes to."""
    screen.title("Checks")
    for check in checks:
        screen.check(check.name, check.detail, passed=check.passed)
    failed = sum(not check.passed for check in checks)
    screen.title(f"{failed} of {len(checks)} checks failed" if failed else f"all {len(checks)} checks passed")
    return checks
