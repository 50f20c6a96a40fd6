"""Functions, methods, hand-written tools and tools in processes of their own keep the contract of tool sources."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from talaria import Tool, tool
from talaria.testing.tool_contract import ToolSourceContract
from tests.tools import sources


def words(**fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*fields][:1]}


class TestAsyncFunctions(ToolSourceContract):
    @asynccontextmanager
    async def open_tools(self, folder: Path) -> AsyncGenerator[Sequence[object]]:
        @tool(side_effects=False)
        async def echo(text: str, times: int = 1, tags: list[str] = []) -> dict[str, Any]:  # noqa: B006 - read only
            """Say what came."""
            return {"text": text, "times": times, "tags": tags}

        @tool(side_effects=False)
        async def fail(words: str) -> str:
            """Fail."""
            raise ValueError(words)

        @tool(side_effects=False)
        async def hang() -> str:
            """Never end."""
            await asyncio.Event().wait()
            return "never"

        @tool(side_effects=False)
        async def long() -> str:
            """Say much."""
            return f"first{'.' * 50_000}last"

        yield [echo, fail, hang, long]


class Shop:
    def __init__(self) -> None:
        self.closed = threading.Event()

    @tool
    def echo(self, text: str, times: int = 1, tags: list[str] = []) -> dict[str, Any]:  # noqa: B006 - read only
        """Say what came."""
        return {"text": text, "times": times, "tags": tags}

    @tool
    def fail(self, words: str) -> str:
        """Fail."""
        raise ValueError(words)

    @tool
    def hang(self) -> str:
        """Never end."""
        self.closed.wait()
        return "closed"

    @tool
    def long(self) -> str:
        """Say much."""
        return f"first{'.' * 50_000}last"


class TestMethods(ToolSourceContract):
    """Of an object, plain ones, which run on threads."""

    @asynccontextmanager
    async def open_tools(self, folder: Path) -> AsyncGenerator[Sequence[object]]:
        shop = Shop()
        yield [shop]
        shop.closed.set()


class TestHandWritten(ToolSourceContract):
    @asynccontextmanager
    async def open_tools(self, folder: Path) -> AsyncGenerator[Sequence[object]]:
        async def fail(words: str) -> str:
            raise ValueError(words)

        async def hang() -> None:
            await asyncio.Event().wait()

        text, number = {"type": "string"}, {"type": "integer"}
        listed = {"type": "array", "items": text}
        yield [
            Tool("echo", "Say what came.", words(text=text, times=number, tags=listed), sources.echo_json),
            Tool("fail", "Fail.", words(words=text), fail),
            Tool("hang", "Never end.", words(), hang),
            Tool("long", "Say much.", words(), lambda: f"first{'.' * 50_000}last"),
        ]


class TestProcesses(ToolSourceContract):
    patience = 2.0

    @asynccontextmanager
    async def open_tools(self, folder: Path) -> AsyncGenerator[Sequence[object]]:
        yield [sources.echo, sources.fail, sources.hang, sources.long]
