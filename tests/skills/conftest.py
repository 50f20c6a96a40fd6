"""A server on loopback that has skills, and says how often it was asked."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest
from aiohttp import web


@dataclass
class SkillServer:
    """`files` by name; `asked`: for what, in order, each with the ETag that the asker has."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    status: int = 200

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}?key=hidden"

    async def answer(self, request: web.Request) -> web.Response:
        name = request.path.removeprefix("/")
        had = request.headers.get("If-None-Match", "")
        self.asked.append((name, had))
        if self.status != 200 or name not in self.files:
            return web.Response(status=404 if self.status == 200 else self.status)
        etag = f'"{hash(self.files[name])}"'
        if had == etag:
            return web.Response(status=304)
        return web.Response(body=self.files[name], headers={"ETag": etag})


@pytest.fixture
async def server() -> AsyncGenerator[SkillServer]:
    made = SkillServer()
    app = web.Application()
    app.router.add_get("/{name}", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.port = runner.addresses[0][1]
    yield made
    await runner.cleanup()
