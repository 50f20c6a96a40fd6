"""A clock that only writes down what is waited for, and a transport in memory."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, tzinfo

import msgspec

from talaria.core.messages import Text, UserMessage
from talaria.ports.model import HttpCall, ModelItem, ModelRequest, Prompt

NOW = 1_796_040_000_000  # 2026-11-30T12:00:00Z


class NotingClock:
    """Nothing takes time; `waits` are the seconds that were to be waited."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    @property
    def zone(self) -> tzinfo:
        return UTC

    def now(self) -> int:
        return NOW

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


class Canned(msgspec.Struct):
    """A reply in memory. After its pieces it ends, raises `error`, or (`hangs`) stays silent for ever."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    error: Exception | None = None
    hangs: bool = False
    closed: bool = False

    @property
    def is_read(self) -> bool:
        return False

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        self.closed = True


class CannedTransport:
    """Answers with canned replies, in order; an exception in their place is raised instead."""

    def __init__(self, replies: Iterable[Canned | Exception]) -> None:
        self.replies = list(replies)
        self.calls: list[HttpCall] = []
        self._left = iter(self.replies)

    async def send(self, call: HttpCall, *, connect_timeout: float) -> Canned:
        assert connect_timeout > 0
        self.calls.append(call)
        reply = next(self._left)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def close(self) -> None:
        pass


def ask(model: str = "gpt-x", text: str = "hello") -> ModelRequest:
    return ModelRequest(model, Prompt("", (), [UserMessage((Text(text),))]))


async def collect(stream: AsyncIterator[Sequence[ModelItem]]) -> list[ModelItem]:
    async with asyncio.timeout(10):
        return [item async for items in stream for item in items]
