"""The courier of one target: delivers what waits in its outbox, again and again until it is taken or too old."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
import structlog

from talaria.core.errors import JournalError
from talaria.notify.formats import FORMATS
from talaria.notify.notice import Notice, NoticeRow
from talaria.notify.outbox import again, read_row
from talaria.notify.sender import Verdict, send
from talaria.notify.target import Target
from talaria.ports.clock import Clock
from talaria.ports.journal import Drop, Index, IndexRow, Put
from talaria.ports.model import Transport
from talaria.telemetry.metrics import Metrics

AT_ONCE = 4
"""Deliveries to one target at a time, where its format does not ask for a pace."""
BASE = 2.0
LONGEST_BACKOFF = 3600.0
"""Seconds between two tries of one delivery."""
LONGEST_PAUSE = 60.0
"""Seconds for which a target that takes nothing is left alone: then one delivery shows whether it does again."""
OLDEST = 24 * 3600 * 1000
"""Ms after which a delivery that nobody took is given up."""
HOUR = 3600.0

Compose = Callable[[Target, str, NoticeRow], Awaitable[Notice | None]]
"""Makes the notice of a delivery; None if there is nothing to tell any more."""

_log = structlog.get_logger("talaria.notify")


class _Tried(NamedTuple):
    """What comes of a delivery: its row, gone or for later; whether it was taken, if sent; `wait` as in Verdict."""

    row: IndexRow
    was_taken: bool | None = None
    wait: float = 0.0


class Courier:
    """One loop, and never more than a few requests: what waits, waits in the store.

    A delivery is made at least once, always with the same id. Its order among the others is not kept.
    """

    def __init__(
        self, target: Target, index: Index, clock: Clock, metrics: Metrics, transport: Transport, compose: Compose
    ) -> None:
        self.target = target
        self._compose = compose
        self._format = FORMATS[target.format]
        self._index = index
        self._clock = clock
        self._metrics = metrics
        self._transport = transport
        self._bell = asyncio.Event()
        self._failures = 0

    def ring(self) -> None:
        """There may be something to deliver."""
        self._bell.set()

    async def watch(self) -> None:
        """Deliver for ever."""
        while True:
            self._bell.clear()
            now, limit = self._clock.now(), 1 if self._failures or self._format.spacing else AT_ONCE
            rows = await self._index.due(self.target.kind, now, limit)
            if rows:
                await self._pass(rows)
            else:
                await self._rest(now)

    async def _pass(self, rows: list[Put]) -> None:
        tried = await asyncio.gather(*[self._try(row) for row in rows])
        await self._index.put([each.row for each in tried])
        if any(each.was_taken for each in tried):
            self._failures = 0
        elif any(each.was_taken is False for each in tried):
            self._failures += 1
        pause = min(BASE**self._failures, LONGEST_PAUSE) * _jitter() if self._failures else self._format.spacing
        await self._clock.sleep(max(pause, *(each.wait for each in tried)))

    async def _rest(self, now: int) -> None:
        later = await self._index.next_due(self.target.kind, now)
        seconds = HOUR if later is None else min((later - now) / 1000, HOUR)
        waits = (asyncio.create_task(self._bell.wait()), asyncio.create_task(_sleep(self._clock, seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def _try(self, row: Put) -> _Tried:
        try:
            notice = read_row(row)
        except msgspec.DecodeError:
            _log.error("notice_unreadable", target=self.target.number, delivery=row.key)
            return self._gone(row, "dropped")
        try:
            return await self._deliver(row, notice)
        except JournalError:
            raise
        except Exception as error:  # noqa: BLE001 - one delivery: the others must not wait for it
            _log.error("notice_failed", target=self.target.number, delivery=row.key, exc_info=error)
            return self._failed(row, notice, Verdict("a fault of this server"))

    async def _deliver(self, row: Put, notice: NoticeRow) -> _Tried:
        made = await self._compose(self.target, row.key, notice)
        if made is None:
            return self._gone(row, "obsolete")
        now = self._clock.now()
        verdict = await send(self._transport, self._format.make(self.target, made, now), self._format, now)
        return self._failed(row, notice, verdict) if verdict.refusal else self._gone(row, "delivered", was_taken=True)

    def _failed(self, row: Put, notice: NoticeRow, verdict: Verdict) -> _Tried:
        """What the receiver answered may hold keys, as its address may: neither is logged."""
        target, now = self.target, self._clock.now()
        said = {"target": target.number, "host": target.host, "delivery": row.key, "refusal": verdict.refusal}
        wait = max(min(BASE ** min(notice.tries + 1, 20), LONGEST_BACKOFF) * _jitter(), verdict.wait)
        if now + wait * 1000 > notice.at + OLDEST:
            _log.error("notice_given_up", tries=notice.tries + 1, **said)
            return self._gone(row, "dropped", was_taken=False)
        _log.warning("notice_refused", tries=notice.tries + 1, **said)
        self._count("failed")
        return _Tried(again(row, notice, now + int(wait * 1000)), False, verdict.wait)

    def _gone(self, row: Put, outcome: str, *, was_taken: bool | None = None) -> _Tried:
        self._count(outcome)
        return _Tried(Drop(row.kind, row.key), was_taken)

    def _count(self, outcome: str) -> None:
        self._metrics.count("notify_deliveries", target=str(self.target.number), outcome=outcome)


async def _sleep(clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)


def _jitter() -> float:
    return random.uniform(0.5, 1.0)  # noqa: S311 - it spreads tries, it guards nothing
