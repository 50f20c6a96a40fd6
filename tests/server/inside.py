"""A sandbox as far as a preview knows one: its ports are those of this machine, and it is one session's."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from aiohttp import ClientSession, web
from yarl import URL

from talaria.core.errors import NotFound, SandboxLost
from talaria.core.ids import SessionKey
from talaria.ports.sandbox import Pipe, Sandbox


class Stream(Pipe):
    """A TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        return await self._reader.read(64 * 1024)

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise SandboxLost("gone") from error

    async def close(self) -> None:
        self._writer.close()


class Inside:
    """Counts who holds it."""

    def __init__(self, *sessions: str) -> None:
        self.sessions = set(sessions)
        self.holders = 0

    async def dial(self, port: int) -> Pipe:
        try:
            return Stream(*await asyncio.open_connection("127.0.0.1", port))
        except OSError:
            raise NotFound(f"nothing listens on port {port} in the sandbox") from None

    @asynccontextmanager
    async def hold(self, key: SessionKey) -> AsyncGenerator[Sandbox]:
        if key.path not in self.sessions:
            raise NotFound("this session has no sandbox now; it gets one when it runs code")
        self.holders += 1
        try:
            yield cast("Sandbox", self)
        finally:
            self.holders -= 1


@asynccontextmanager
async def site(*routes: web.RouteDef) -> AsyncGenerator[int]:
    """A web server inside; give its port."""
    app = web.Application(client_max_size=100_000_000)
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        where = web.TCPSite(runner, "127.0.0.1", 0)
        await where.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def told(http: ClientSession, method: str, url: str | URL, **options: Any) -> tuple[int, dict[str, str], bytes]:
    """Send a request; return status, headers with small names, and body."""
    async with http.request(method, url, allow_redirects=False, **options) as answer:
        return answer.status, {name.lower(): value for name, value in answer.headers.items()}, await answer.read()
