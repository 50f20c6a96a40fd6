"""Previews: what a web server inside a sandbox answers, through a link that only its session's owner can get.

The link carries a ticket in its path, because a page without an origin sends no cookies and a browser that opens a link
sends no Authorization. Whoever has the link sees the page until the link is over, but may do nothing else with it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from talaria.core.errors import NotFound, TalariaError
from talaria.ports.sandbox import Pipe
from talaria.runtime.build import Parts
from talaria.runtime.previews import MARK
from talaria.server.call import Call, reply
from talaria.server.preview_headers import PREFLIGHT, inward
from talaria.server.preview_http import BadAnswer, Exchange
from talaria.server.preview_socket import AWAY, SocketExchange
from talaria.server.problems import Refused, problem
from talaria.server.sessions import assistant
from talaria.server.streams import Streams


async def preview(call: Call) -> Response:
    """A link that shows a port of a session's sandbox."""
    previews = call.parts.previews
    ticket = await previews.make(call.principal, call.path("sessionId"), assistant(call), call.path("port"))
    return reply(previews.view(ticket))


async def preview_redirect(call: Call) -> Response:
    """From the address without a ticket to the same with one, for its owner."""
    ticket = await call.parts.previews.make(call.principal, call.path("sessionId"), assistant(call), call.path("port"))
    inner = call.path("path")
    there = f"{'../' * inner.count('/')}{ticket.value}/{quote(inner)}"
    return RedirectResponse(there, 307, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


async def preview_passed(call: Call) -> "Passed":
    """What a port of a sandbox answers to whoever has a ticket for it."""
    return Passed(call.parts, call.streams)


class Opened:
    """A connection into a sandbox by a ticket, until either end, the ticket or the server ends."""

    def __init__(self, parts: Parts, streams: Streams) -> None:
        self._parts = parts
        self._streams = streams
        self._limit = asyncio.timeout(None)

    def end(self) -> None:
        """Stop as soon as possible."""
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def dial(self, scope: Scope) -> AsyncGenerator[tuple[Pipe, int, bytes]]:
        """Connect; give the connection, the port, and what is asked of the server there.

        Raises:
            NotFound: no such ticket, no sandbox, or nothing listens. TimeoutError: the ticket or the server ends.
        """
        given: dict[str, str] = scope["path_params"]
        value = MARK + given["token"]
        with self._streams.holding(self):
            async with (
                self._limit,
                self._parts.previews.open(value, given["sessionId"], given["port"]) as (sandbox, port, left),
            ):
                self._limit.reschedule(asyncio.get_running_loop().time() + left)
                pipe = await sandbox.dial(port)
                try:
                    yield pipe, port, inner_target(scope, value)
                finally:
                    await pipe.close()


class Passed:
    """Passes one request into a sandbox."""

    def __init__(self, parts: Parts, streams: Streams) -> None:
        self.headers = MutableHeaders()
        self._opened = Opened(parts, streams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        exchange = Exchange(receive, send)
        try:
            if is_preflight(scope):
                await send({"type": "http.response.start", "status": 204, "headers": PREFLIGHT})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            async with self._opened.dial(scope) as (pipe, port, target):
                await exchange.run(pipe, scope["method"], target, inward(scope["headers"], port))
        except (TalariaError, TimeoutError, BadAnswer) as error:
            if not exchange.has_begun:
                await _refusal(error)(scope, receive, send)


class Sockets:
    """Passes WebSockets into sandboxes, as an ASGI application."""

    def __init__(self, parts: Callable[[], Parts], streams: Streams) -> None:
        self._parts = parts
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        await receive()
        try:
            async with Opened(self._parts(), self._streams).dial(scope) as (pipe, port, target):
                url = f"ws://localhost:{port}{target.decode('latin-1')}"
                await SocketExchange(pipe, url, scope["subprotocols"]).run(receive, send)
        except (TalariaError, TimeoutError, BadAnswer):
            await send({"type": "websocket.close", "code": AWAY})


def is_preflight(scope: Scope) -> bool:
    """Whether a browser asks what a page may ask. All, of its own server."""
    asked = (name == b"access-control-request-method" for name, _ in scope["headers"])
    return scope["method"] == "OPTIONS" and any(asked)


def inner_target(scope: Scope, ticket: str) -> bytes:
    """What is asked of the server inside, as it was written."""
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    query: bytes = scope["query_string"]
    return b"/" + raw.partition(f"/{ticket}/".encode())[2] + (b"?" + query if query else b"")


def _refusal(error: TalariaError | TimeoutError | BadAnswer) -> Response:
    match error:
        case TimeoutError():
            return problem(NotFound("this preview is over"))
        case BadAnswer():
            return problem(Refused(502, str(error)))
        case _:
            return problem(error)
