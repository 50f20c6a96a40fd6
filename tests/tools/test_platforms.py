"""Dify apps and HTTP endpoints as sources of tools: the suite that every source passes."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web

from talaria import Tool
from talaria.core.external import ExternalTool
from talaria.fetch import Fetcher, Listed, Rules
from talaria.fetch.exchange import AioHttpExchange
from talaria.runtime.build import build
from talaria.testing.tool_contract import TOOLS, ToolSourceContract
from talaria.tools.sources.external import external_tool
from tests.tools.platforms import KEY, STARTED, Dify, Json, finished, listening

LOADED = (AioHttpExchange, build)
"""What is imported when it is first used: not in a test's event loop."""
WORDS = {"type": "string"}
SCHEMAS: dict[str, Json] = {
    "echo": {
        "properties": {
            "text": WORDS,
            "times": {"type": "integer", "default": 1},
            "tags": {"type": "array", "items": WORDS, "default": []},
        },
        "required": ["text"],
    },
    "fail": {"properties": {"words": WORDS}, "required": ["words"]},
    "hang": {"properties": {}},
    "long": {"properties": {}},
}
LONG = f"first{'.' * 50_000}last"


def spec(platform: Any, name: str, url: str, **more: Any) -> ExternalTool:
    return ExternalTool(platform, name, f"Does {name}.", {"type": "object", **SCHEMAS[name]}, url, **more)


def opened(specs: Sequence[ExternalTool], fetcher: Fetcher) -> list[Tool[..., Any]]:
    """The tools, trusted: the suite looks at what they say, and not at the fence around it."""
    keys = {each.secret("apiKey"): KEY for each in specs}
    return [replace(external_tool(each, keys, fetcher), untrusted=False) for each in specs]


@asynccontextmanager
async def fetching() -> AsyncGenerator[Fetcher]:
    fetcher = Fetcher(Rules(private=Listed(["127.0.0.1"], "test")))
    try:
        yield fetcher
    finally:
        await fetcher.close()


class TestHttpTools(ToolSourceContract):
    def open_tools(self, folder: Path) -> AbstractAsyncContextManager[Sequence[object]]:
        return _http_tools()


@asynccontextmanager
async def _http_tools() -> AsyncGenerator[Sequence[object]]:
    async def echo(request: web.Request) -> web.Response:
        return web.json_response(await request.json())

    async def fail(request: web.Request) -> web.Response:
        return web.Response(status=500, text=(await request.json())["words"])

    async def hang(request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async def long(request: web.Request) -> web.Response:
        return web.Response(text=LONG)

    routes = (("/echo", echo), ("/fail", fail), ("/hang", hang), ("/long", long))
    async with listening(*routes) as address, fetching() as fetcher:
        yield opened([spec("http", name, f"{address}/{name}", method="POST") for name in TOOLS], fetcher)


class TestDifyWorkflows(ToolSourceContract):
    def open_tools(self, folder: Path) -> AbstractAsyncContextManager[Sequence[object]]:
        return _dify_tools()


@asynccontextmanager
async def _dify_tools() -> AsyncGenerator[Sequence[object]]:
    def failed(body: Json) -> tuple[list[Json], Json]:
        return [STARTED, finished(status="failed", error=body["inputs"]["words"])], {}

    servers = {
        "echo": Dify(answer=lambda body: ([STARTED, finished({"said": json.dumps(body["inputs"])})], {})),
        "fail": Dify(answer=failed),
        "hang": Dify(events=[STARTED], hangs=True),
        "long": Dify(events=[STARTED, finished({"text": LONG})]),
    }
    async with (
        servers["echo"].serving() as echo,
        servers["fail"].serving() as fail,
        servers["hang"].serving() as hang,
        servers["long"].serving() as long,
        fetching() as fetcher,
    ):
        urls = {"echo": echo, "fail": fail, "hang": hang, "long": long}
        yield opened([spec("dify", name, urls[name]) for name in TOOLS], fetcher)
