"""The demo's client of the chat endpoint: reads the stream, loses its connection, and goes on where it was."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from talaria.demo.transcript import Event, Transcript

_NO_LIMIT = ClientTimeout(total=None, sock_read=60)
_TRIES = 5
_PAUSE = 0.4
"""Seconds without a connection, so that there is something to catch up with."""


class AskError(Exception):
    """The server did not answer with a stream, or lost it for good."""


class Watcher(msgspec.Struct, frozen=True, gc=False):
    """Who is told what happens: of every event, and (in a sentence) of every connection that broke or came back."""

    event: Callable[[Event], None]
    connection: Callable[[str], None]


class Client:
    """Asks one question of one server, and closes the connection once the answer has `cut_after` characters."""

    def __init__(self, http: ClientSession, base_url: str, watcher: Watcher, cut_after: int) -> None:
        self._http = http
        self._base_url = base_url
        self._watcher = watcher
        self._cut_after = cut_after
        self.transcript = Transcript()
        self.cut_at = 0

    async def ask(self, body: dict[str, Any]) -> Transcript:
        """Run a turn to its end.

        Raises:
            AskError: the server refused, or the stream could not be gone on with.
        """
        async with self._http.post(f"{self._base_url}/ai-api/chat/stream", json=body, timeout=_NO_LIMIT) as reply:
            await self._follow(reply)
        tries = 0
        while self.transcript.end is None:
            before, tries = self.transcript.last_id, tries + 1
            await asyncio.sleep(_PAUSE)
            await self._go_on()
            tries = 0 if self.transcript.last_id != before else tries
            if tries == _TRIES:
                raise AskError("the stream broke again and again without bringing anything new")
        return self.transcript

    async def _go_on(self) -> None:
        url = f"{self._base_url}/ai-api/runs/{self.transcript.run_id}/events"
        headers = {"Last-Event-ID": self.transcript.last_id}
        self._watcher.connection(f"connected again with Last-Event-ID {self.transcript.last_id}")
        async with self._http.get(url, headers=headers, timeout=_NO_LIMIT) as reply:
            await self._follow(reply)

    async def _follow(self, reply: ClientResponse) -> None:
        try:
            async for event in read_events(reply):
                self.transcript.take(event)
                self._watcher.event(event)
                if self._is_time_to_cut(event):
                    self._cut(reply)
                    return
        except ClientError as error:
            self._watcher.connection(f"the connection broke ({type(error).__name__})")

    def _is_time_to_cut(self, event: Event) -> bool:
        return event.type == "token" and not self.cut_at and len(self.transcript.answer) >= self._cut_after

    def _cut(self, reply: ClientResponse) -> None:
        self.cut_at = len(self.transcript.text)
        reply.close()
        self._watcher.connection(f"connection closed on purpose, after {self.cut_at} characters of text")


async def read_events(reply: ClientResponse) -> AsyncIterator[Event]:
    """Yield the events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html).

    Raises:
        AskError: the server answered with something else.
    """
    if reply.status != 200:
        raise AskError(f"the server answered {reply.status}: {(await reply.text())[:500]}")
    id_, data = "", list[str]()
    async for raw in reply.content:
        line = raw.decode().rstrip("\r\n")
        field, _, value = line.partition(":")
        if not line and data:
            body = json.loads("\n".join(data))
            yield Event(id_, str(body.get("type", "")), body)
            id_, data = "", []
        elif field == "id":
            id_ = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


async def replay(http: ClientSession, base_url: str, run_id: str) -> Transcript:
    """Read a run from its start in one go, as somebody who never lost a connection."""
    transcript = Transcript()
    async with http.get(f"{base_url}/ai-api/runs/{run_id}/events", timeout=_NO_LIMIT) as reply:
        async for event in read_events(reply):
            transcript.take(event)
    return transcript
