"""Days that are over become a row each of what was used alike, so that a year of usage stays small."""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
import structlog

from talaria.journal.index import RUN, RUN_NOW, USAGE, WAKE
from talaria.journal.spending import UsageRow, add
from talaria.ports.journal import Drop, Put
from talaria.quotas.windows import day_start, window
from talaria.runtime.index_rows import AT_ONCE
from talaria.runtime.kit import Kit
from talaria.runtime.usage_rows import DAYS, SUMMED, rows_between, summed_until, usage_row

EVERY = 3600.0
"""Seconds between two sweeps."""
EVERY_RUN = 1_000_000
_encode = msgspec.json.Encoder(order="deterministic").encode
_log = structlog.get_logger("talaria.usage")


class UsageSums:
    """Sums up days that ended more than a day ago. A crash at any point loses nothing and counts nothing twice.

    The sums and the mark that makes the rows of minutes void are written together; those go afterwards.
    """

    def __init__(self, kit: Kit, currency: Callable[[str], str]) -> None:
        self._index = kit.store.index
        self._clock = kit.clock
        self._currency = currency

    async def watch(self) -> None:
        """Sweep for ever."""
        while True:
            await self.sweep()
            await self._clock.sleep(EVERY)

    async def sweep(self) -> None:
        """Sum up all days that are due."""
        due, summed = await self._due(), await summed_until(self._index)
        await self._drop(summed)
        while oldest := await self._index.due(USAGE, due - 1, 1):
            first, end = window("day", oldest[0].at, self._clock.zone)
            end = min(end, due)
            if end > summed:  # else a run has just written once more what was summed up
                await self._sum(max(first, summed), end)
                summed = end
            await self._drop(summed)

    async def _due(self) -> int:
        """Up to when days are complete. Of runs at work the index has only the beginning: their days have to wait."""
        now = datetime.fromtimestamp(self._clock.now() / 1000, self._clock.zone)
        due = day_start(now - timedelta(days=1), self._clock.zone)
        for wake in await self._index.due(WAKE, RUN_NOW, EVERY_RUN):
            row = await self._index.get(RUN, wake.data.decode())
            if row is not None:
                due = min(due, window("day", row.at, self._clock.zone)[0])
        return due

    async def _sum(self, first: int, end: int) -> None:
        sums: dict[tuple[str, bytes], UsageRow] = {}
        async for put in rows_between(self._index, USAGE, None, first, end):
            row = usage_row(put.data)
            alike = UsageRow(row.agent, row.model, row.labels)
            add(sums.setdefault((put.scope, _encode(alike)), alike), row)
        for row in sums.values():
            for model, spent in row.models.items():
                spent.currency = self._currency(model)  # as it is now: the route may be gone some day
        days = [
            Put(DAYS, f"{first}/{scope}/{alike.decode()}", "", scope, first, _encode(row))
            for (scope, alike), row in sums.items()
        ]
        await self._index.put([*days, Put(SUMMED, "", "", "", end)])
        _log.info("usage_summed", rows=len(days))

    async def _drop(self, end: int) -> None:
        while rows := await self._index.due(USAGE, end - 1, AT_ONCE):
            await self._index.put([Drop(USAGE, row.key) for row in rows])
