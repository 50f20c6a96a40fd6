"""A clock that stands still until a test moves it."""

import asyncio
import heapq
from collections.abc import Coroutine
from datetime import UTC, tzinfo
from itertools import count
from typing import Any

START = 1_800_000_000_000
"""2027-01-15 08:00 UTC, in ms."""


class FakeClock:
    """A `Clock`: `move` is the only thing that makes time pass."""

    def __init__(self, start: int = START, zone: tzinfo = UTC) -> None:
        self._now = start
        self._zone = zone
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()

    @property
    def zone(self) -> tzinfo:
        """The zone in which dates are told."""
        return self._zone

    def now(self) -> int:
        """The time in ms."""
        return self._now

    def sleep(self, seconds: float) -> Coroutine[Any, Any, None]:
        """Wait until the clock was moved so far; time counts from the call, not from when the waiting begins."""
        until = self._now + int(seconds * 1000)
        if until <= self._now:
            return asyncio.sleep(0)
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (until, next(self._order), woken))
        return _wait(woken)

    def move(self, seconds: float) -> None:
        """Let time pass, and wake those whose time has come, in order."""
        self.pass_unnoticed(seconds)
        while self._sleepers and self._sleepers[0][0] <= self._now:
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)

    def pass_unnoticed(self, seconds: float) -> None:
        """Let time pass and wake nobody: what happens before an alarm has had its turn."""
        self._now += int(seconds * 1000)


async def _wait(woken: "asyncio.Future[None]") -> None:
    await woken
