"""One HTTP request to a server inside a sandbox, and its answer: both are passed on while they come."""

import asyncio
from contextlib import suppress

import h11
from starlette.types import Receive, Send

from talaria.core.errors import SandboxLost
from talaria.ports.sandbox import Pipe
from talaria.server.preview_headers import Headers, outward
from talaria.server.two_ways import two_ways

LARGEST_HEAD = 64 * 1024
PATIENCE = 120.0
"""Seconds that a server inside has to begin its answer."""


class BadAnswer(Exception):
    """What came from inside is no HTTP, or came too late; the message says which."""


class Exchange:
    """A request and its answer, over a connection of their own."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._connection = h11.Connection(h11.CLIENT, LARGEST_HEAD)
        self.has_begun = False

    async def run(self, pipe: Pipe, method: str, target: bytes, headers: Headers) -> None:
        """Pass the request in and the answer out, until the answer has ended or the client has gone.

        Raises:
            BadAnswer: nothing usable came. SandboxLost: it ended meanwhile.
        """
        request = h11.Request(method=method, target=target, headers=headers)
        await two_ways(self._ask(pipe, request), self._answer(pipe, target))

    async def _ask(self, pipe: Pipe, request: h11.Request) -> None:
        """Send the request, then wait until the client is gone. A server may answer before it has read everything."""
        with suppress(SandboxLost):
            await self._write(pipe, request)
            await self._body(pipe)
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _body(self, pipe: Pipe) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return
            if message.get("body"):
                await self._write(pipe, h11.Data(message["body"]))
            if not message.get("more_body"):
                await self._write(pipe, h11.EndOfMessage())
                return

    async def _write(self, pipe: Pipe, event: h11.Event) -> None:
        await pipe.write(self._connection.send(event) or b"")

    async def _answer(self, pipe: Pipe, target: bytes) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                head = await self._next(pipe)
                while isinstance(head, h11.InformationalResponse):
                    head = await self._next(pipe)
        except TimeoutError:
            raise BadAnswer(f"the server inside did not begin to answer within {PATIENCE:g} seconds") from None
        if not isinstance(head, h11.Response):
            raise BadAnswer("the server inside closed the connection without an answer")
        path = target.partition(b"?")[0].decode("latin-1")
        self.has_begun = True
        headers = outward(head.headers, path)
        await self._send({"type": "http.response.start", "status": head.status_code, "headers": headers})
        while isinstance(part := await self._next(pipe), h11.Data):
            await self._send({"type": "http.response.body", "body": bytes(part.data), "more_body": True})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self, pipe: Pipe) -> h11.Event:
        try:
            while (event := self._connection.next_event()) is h11.NEED_DATA:
                self._connection.receive_data(await pipe.read())
        except h11.RemoteProtocolError as error:
            raise BadAnswer(f"what answered is no HTTP server: {error}") from None
        if not isinstance(event, h11.Event):
            raise BadAnswer("the answer goes on in another protocol")
        return event
