"""An HTTP client that speaks to an ASGI application in the same loop, streams and disconnects included."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.types import ASGIApp, Message

from tests.server.sse import Event, Parser

LIMIT = 10.0
"""Seconds within which everything must happen."""


class Reply(NamedTuple):
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Exchange:
    """One request under way: the application's side runs in a task."""

    def __init__(self, body: bytes, unread: int) -> None:
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue(unread)
        self._parser = Parser()
        self._events: list[Event] = []
        self._ended = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self.seen: list[Event] = []
        self.writes = 0

    # The server's side

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if not self._gone.is_set():
            await self._messages.put(message)

    async def ended(self) -> None:
        await self._messages.put(None)

    # The client's side

    async def start(self) -> None:
        """Read the head."""
        message = await self._next()
        assert message is not None, "the application ended without an answer"
        self.status = message["status"]
        self.headers = {name.decode(): value.decode() for name, value in message["headers"]}

    async def bytes(self) -> bytes | None:
        """Return what the next write brought, None at the end."""
        if self._ended:
            return None
        message = await self._next()
        if message is None or not message.get("more_body"):
            self._ended = True
        if message is None:
            return None
        self.writes += 1
        return message.get("body", b"")

    async def event(self) -> Event | None:
        """Return the next event that is no heartbeat, None at the end."""
        while True:
            event = await self.any_event()
            if event is None or event.type != "heartbeat":
                return event

    async def any_event(self) -> Event | None:
        """Return the next event, None at the end."""
        while not self._events:
            data = await self.bytes()
            if data is None:
                return None
            self._events.extend(self._parser.feed(data))
        event = self._events.pop(0)
        if event.type != "heartbeat":
            self.seen.append(event)
        return event

    async def until(self, kind: str) -> Event:
        """Read on up to the next event of this type, and return it."""
        while (event := await self.event()) is not None:
            if event.type == kind:
                return event
        raise AssertionError(f"the stream ended without {kind!r}; it brought {[each.data for each in self.seen]}")

    async def rest(self) -> list[Event]:
        """Read to the end; return the events."""
        events: list[Event] = []
        while (event := await self.event()) is not None:
            events.append(event)
        return events

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.event()) is not None:
            yield event

    def leave(self) -> None:
        """Close the connection."""
        self._gone.set()
        with suppress(asyncio.QueueEmpty):
            while True:
                self._messages.get_nowait()

    async def _next(self) -> Message | None:
        async with asyncio.timeout(LIMIT):
            return await self._messages.get()


class Client:
    """Sends requests to `app`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def get(self, path: str, **options: Any) -> Reply:
        return await self.request("GET", path, **options)

    async def post(self, path: str, json: Any = None, **options: Any) -> Reply:
        return await self.request("POST", path, json=json, **options)

    async def delete(self, path: str, **options: Any) -> Reply:
        return await self.request("DELETE", path, **options)

    async def request(self, method: str, path: str, **options: Any) -> Reply:
        """Send a request and return the whole answer."""
        async with self.stream(method, path, **options) as exchange:
            body = b""
            while (data := await exchange.bytes()) is not None:
                body += data
            return Reply(exchange.status, exchange.headers, body)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        unread: int = 0,
    ) -> AsyncGenerator[Exchange]:
        """Send a request and give the answer while it comes. `unread`: how many writes the connection takes unread."""
        data = body if body is not None else b"" if json is None else encode(json)
        exchange = Exchange(data, unread)
        given = {"content-type": "application/json"} if json is not None else {}
        scope = _scope(method, path, given | (headers or {}))

        async def run() -> None:
            try:
                await self._app(scope, exchange.receive, exchange.send)
            finally:
                await exchange.ended()

        task = asyncio.create_task(run(), name=f"{method} {path}")
        try:
            await exchange.start()
            yield exchange
        finally:
            exchange.leave()
            async with asyncio.timeout(LIMIT):
                while not task.done():
                    exchange.leave()
                    await asyncio.wait([task], timeout=0.01)
            task.result()

    def chat(self, query: str = "Hello", **fields: Any) -> Any:
        """Open the stream of a turn."""
        unread: int = fields.pop("unread", 0)
        return self.stream("POST", "/ai-api/chat/stream", json={"query": query} | fields, unread=unread)

    async def turn(self, query: str = "Hello", **fields: Any) -> list[Event]:
        """Run a turn to its end; return its events."""
        async with self.chat(query, **fields) as stream:
            assert stream.status == 200, await stream.bytes()
            return await stream.rest()

    def events(self, run_id: str, after: str | None = None, **options: Any) -> Any:
        """Open the event stream of a run, after an event id."""
        headers = {} if after is None else {"last-event-id": after}
        return self.stream("GET", f"/ai-api/runs/{run_id}/events", headers=headers, **options)


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def _scope(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    path, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
    }
