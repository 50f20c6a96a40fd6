"""The pulse of a stream: heartbeats into silence, and padding that pushes events through proxies that hold back."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import suppress

from starlette.types import Send

from talaria.core.events import ChatEvent
from talaria.live.frames import encode_sse

QUIET = 0.04
"""Seconds of silence after which padding follows what was said."""
LONGEST = 0.1
"""Seconds after which padding follows even where there is no silence."""
LINE = 1024
WINDOW = 64 * 1024
"""Bytes after which padding may repeat itself: more than what a compressor remembers."""

_HEARTBEAT = encode_sse(b"", None, ChatEvent("heartbeat"))


class Rhythm:
    """How all streams of a server beat: every `interval` seconds of silence, with `padding` bytes of comments.

    The comments are random and do not soon repeat themselves, so that a proxy that compresses cannot swallow them.
    """

    def __init__(self, interval: float, padding: int) -> None:
        self.interval = interval
        self.is_padded = padding > 0
        self._padding = padding
        self._noise = secrets.token_urlsafe(padding + WINDOW).encode() if padding else b""
        self._at = 0

    def beat(self) -> bytes:
        """The bytes of one heartbeat."""
        return b"".join(self._comments()) + _HEARTBEAT if self.is_padded else _HEARTBEAT

    def _comments(self) -> Iterator[bytes]:
        left = self._padding
        while left > 0:
            size = max(0, min(left, LINE) - 3)
            if self._at + size > len(self._noise):
                self._at = 0
            yield b": %b\n" % self._noise[self._at : self._at + size]
            self._at += size
            left -= size + 3


class ClientGone(Exception):
    """The connection no longer takes anything."""


class Pulse:
    """Everything that is written into one stream goes through here, so that heartbeats stand between events.

    There is one timer. It is not touched when something is written, save once where padding becomes due.
    """

    def __init__(self, rhythm: Rhythm, send: Send) -> None:
        self._loop = asyncio.get_running_loop()
        self._rhythm = rhythm
        self._send = send
        self._writing = False
        self._last = self._loop.time()
        self._owed: float | None = None  # since when something waits for its padding
        self._beating: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(rhythm.interval, self._ring)

    async def write(self, data: bytes) -> None:
        """Write; returns when the connection can take more.

        Raises:
            ClientGone: it never will.
        """
        if self._beating is not None:
            await self._beating
        await self._put(data)
        if self._rhythm.is_padded and self._owed is None:
            self._owed = self._last
            self._timer.cancel()
            self._timer = self._loop.call_at(self._due(), self._ring)

    def stop(self) -> None:
        """No more heartbeats."""
        self._timer.cancel()
        if self._beating is not None:
            self._beating.cancel()

    async def _put(self, data: bytes) -> None:
        self._writing = True
        try:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        except OSError as error:  # how an ASGI server may say it; others take what is written and drop it
            raise ClientGone from error
        finally:
            self._writing = False
            self._last = self._loop.time()

    async def _beat(self) -> None:
        with suppress(ClientGone):  # the next write will find out
            await self._put(self._rhythm.beat())
        self._beating = None

    def _ring(self) -> None:
        now, due = self._loop.time(), self._due()
        if due <= now:
            self._owed, self._last, due = None, now, now + self._rhythm.interval
            if not self._writing:
                self._beating = self._loop.create_task(self._beat(), name="heartbeat")
        self._timer = self._loop.call_at(due, self._ring)

    def _due(self) -> float:
        beat = self._last + self._rhythm.interval
        return beat if self._owed is None else min(beat, self._last + QUIET, self._owed + LONGEST)
