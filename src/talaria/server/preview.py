"""Previews: what a web server inside a sandbox answers, through a link that only its session's owner can get.

The link carries a ticket in its path, because a page without an origin sends no cookies and a browser that opens a link
sends no Authorization. Whoever has the link sees the page, until it is over: as with any link that decides nothing.
"""

import asyncio
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from talaria.core.errors import NotFound, TalariaError
from talaria.runtime.previews import MARK
from talaria.server.call import Call, reply
from talaria.server.preview_headers import PREFLIGHT, inward
from talaria.server.preview_http import BadAnswer, Exchange
from talaria.server.problems import Refused, problem
from talaria.server.sessions import assistant


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
    return Passed(call)


class Passed:
    """Passes one request into a sandbox, until its answer, its client, its ticket or the server ends."""

    def __init__(self, call: Call) -> None:
        self.headers = MutableHeaders()
        self._call = call
        self._limit = asyncio.timeout(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        if scope["method"] == "OPTIONS" and "access-control-request-method" in self._call.request.headers:
            await _send_head(send, PREFLIGHT)
            return
        exchange = Exchange(receive, send)
        try:
            with self._call.streams.holding(self):
                async with self._limit:
                    await self._pass(exchange, scope)
        except (TalariaError, TimeoutError, BadAnswer) as error:
            if not exchange.has_begun:
                await _refusal(error)(scope, receive, send)

    def end(self) -> None:
        """Stop as soon as possible."""
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def _pass(self, exchange: Exchange, scope: Scope) -> None:
        call = self._call
        value = MARK + call.path("token")
        async with call.parts.previews.open(value, call.path("sessionId"), call.path("port")) as (sandbox, port, left):
            self._limit.reschedule(asyncio.get_running_loop().time() + left)
            pipe = await sandbox.dial(port)
            try:
                await exchange.run(pipe, scope["method"], inner_target(scope, value), inward(scope["headers"], port))
            finally:
                await pipe.close()


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


async def _send_head(send: Send, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
