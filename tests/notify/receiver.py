"""A receiver of notices on loopback: it records what comes, and answers as it is told."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from tests.polling import eventually

KEY = b"0123456789abcdef0123456789abcdef"
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Got(NamedTuple):
    """A request as it came."""

    headers: dict[str, str]
    query: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def check(self, key: bytes = KEY) -> None:
        """Verify its signature, as a receiver does that knows nothing of the sender's code."""
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        mac = hmac.new(key, digestmod=hashlib.sha256)
        mac.update(signed)
        version, _, signature = self.headers["webhook-signature"].partition(",")
        assert version == "v1"
        assert hmac.compare_digest(base64.b64decode(signature), mac.digest())


class Receiver:
    """`answers` are used up one a request; then `default` answers."""

    def __init__(self) -> None:
        self.url = ""
        self.got: list[Got] = []
        self.answers: list[Answer] = []
        self.default: Answer = status(200)
        self.active = self.most = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.got.append(Got(headers, dict(request.query), await request.read()))
        answer = self.answers.pop(0) if self.answers else self.default
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            return await answer(request)
        finally:
            self.active -= 1

    async def has(self, count: int, limit: float = 20.0) -> list[Got]:
        """Wait until so many requests have come."""

        async def there() -> bool:
            return len(self.got) >= count

        await eventually(there, f"{count} notices arriving; there are {len(self.got)}", limit)
        return self.got


def status(code: int, text: str = "", **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=code, text=text, headers=named)

    return answer


def document(value: Any) -> Answer:
    return status(200, msgspec.json.encode(value).decode())


async def closes(request: web.Request) -> web.StreamResponse:
    """The connection breaks without an answer."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def hangs(_: web.Request) -> web.StreamResponse:
    """No answer ever."""
    await asyncio.Event().wait()
    return web.Response()


async def pours(request: web.Request) -> web.StreamResponse:
    """A body without an end."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"x" * 65_536)


@asynccontextmanager
async def receiver() -> AsyncGenerator[Receiver]:
    """A receiver that listens."""
    here = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", here.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        here.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
        yield here
    finally:
        await runner.cleanup()
