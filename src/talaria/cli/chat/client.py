"""The client of the server's HTTP interface: calls, and streams that go on after a lost connection."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from talaria.cli.chat.events import Event, EventParser, notice
from talaria.core.errors import TalariaError

SILENCE = 90
"""Seconds without a byte, heartbeats included, after which a connection counts as lost."""

PATIENCE = 60.0
"""Seconds for which a lost connection is tried again without bringing anything."""

_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
_AGAIN = (502, 503, 504)
"""Answers of a server that is being started again, or of a proxy before it."""


class ChatError(TalariaError):
    """The server refused something, or cannot be reached. `status` is that of its answer, 0 without one."""

    code = "internal"

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Speaks to one server. Open it with `async with`."""

    def __init__(self, url: str, key: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http: ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._http = ClientSession(headers=self._headers)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._http is not None:
            await self._http.close()

    async def get(self, path: str, **query: str) -> Any:
        """GET a path below /ai-api.

        Raises:
            ChatError: the server refused, or cannot be reached.
        """
        return await self._call("GET", path, params=query)

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """POST to a path below /ai-api; errors as with `get`."""
        return await self._call("POST", path, json=body)

    async def _call(self, method: str, path: str, **options: Any) -> Any:
        assert self._http is not None
        timeout = ClientTimeout(total=30)
        try:
            async with self._http.request(method, f"{self.url}/ai-api{path}", timeout=timeout, **options) as reply:
                await _check(reply)
                return await reply.json()
        except (ClientError, TimeoutError, ValueError) as error:
            raise ChatError(f"no answer from {self.url}: {error or type(error).__name__}") from error

    def turn(self, body: dict[str, Any]) -> "EventStream":
        """Run a turn; its events to the end, however often the connection breaks."""
        return self._stream("", {"idempotencyKey": uuid4().hex} | body)

    def run(self, run_id: str) -> "EventStream":
        """The events of a run from its start, in the same way."""
        return self._stream(run_id, {})

    def _stream(self, run_id: str, body: dict[str, Any]) -> "EventStream":
        assert self._http is not None
        return EventStream(self._http, f"{self.url}/ai-api", run_id, body)


class EventStream:
    """The events of one run. `run_id` is "" until the server has said it."""

    def __init__(self, http: ClientSession, base: str, run_id: str, body: dict[str, Any]) -> None:
        self._http = http
        self._base = base
        self._body = body
        self._last = ""
        self._heard = 0.0
        self.run_id = run_id

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield events to the end of the run, with notices of lost connections.

        Raises:
            ChatError: the server refused, or was away for too long.
        """
        self._heard, failures = time.monotonic(), 0
        while True:
            before = self._heard
            try:
                async for event in self._once():
                    yield event
                    if event.type in ("finish", "error"):
                        return
                lost = "the server ended the stream"
            except (ClientError, TimeoutError) as error:
                lost = f"the connection broke ({type(error).__name__})"
            failures = 0 if self._heard != before else failures + 1
            if time.monotonic() - self._heard > PATIENCE:
                raise ChatError(f"{lost}, and nothing came for {PATIENCE:g} s")
            if failures <= 1:
                yield notice(f"{lost}; connecting again")
            await asyncio.sleep(_PAUSES[min(failures, len(_PAUSES) - 1)])

    async def _once(self) -> AsyncIterator[Event]:
        """One connection's events. Where none got through yet, the same key makes the same turn of the same request."""
        timeout, parser = ClientTimeout(total=None, sock_connect=10, sock_read=SILENCE), EventParser()
        headers = {"Last-Event-ID": self._last} if self._last else {}
        opened = (
            self._http.get(f"{self._base}/runs/{quote(self.run_id)}/events", headers=headers, timeout=timeout)
            if self.run_id
            else self._http.post(f"{self._base}/chat/stream", json=self._body, timeout=timeout)
        )
        async with opened as reply:
            if reply.status in _AGAIN and self.run_id:
                return
            await _check(reply)
            self.run_id = reply.headers.get("X-Run-Id", self.run_id)
            async for data in reply.content.iter_any():
                self._heard = time.monotonic()
                for event in parser.feed(data, self._heard):
                    self._last = event.id or self._last
                    yield event


async def _check(reply: ClientResponse) -> None:
    """Raise what a problem document says."""
    if reply.status < 400:
        return
    text = await reply.text()
    try:
        detail = str(json.loads(text)["detail"])
    except (ValueError, KeyError, TypeError):
        detail = text[:200] or reply.reason or ""
    raise ChatError(f"{detail} ({reply.status})", reply.status)
