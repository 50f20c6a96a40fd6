"""Counters in memory: for the one process that owns a store."""

from collections.abc import Sequence

from talaria.ports.counters import Full, Take

FORGET_AT = 1_000
"""Counters beyond those that were left are looked through for such as are over."""


class MemoryCounters:
    """See ports.counters.Counters. Nothing in it waits, so nobody comes between its looks and its sums."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], float] = {}
        self._ends: dict[tuple[str, int], int] = {}
        self._forget_at = FORGET_AT

    @property
    def count(self) -> int:
        """How many counters are kept."""
        return len(self._counts)

    async def take(self, takes: Sequence[Take]) -> Full | None:
        """See the port."""
        for at, each in enumerate(takes):
            holds = self._counts.get((each.key, each.window), 0)
            if holds + each.amount > each.most:
                return Full(at, holds)
        await self.add(takes)
        return None

    async def add(self, takes: Sequence[Take]) -> None:
        """See the port."""
        for each in takes:
            name = (each.key, each.window)
            self._counts[name] = self._counts.get(name, 0) + each.amount
            self._ends[name] = each.ends
        if len(self._counts) > self._forget_at:
            self._forget(max(each.window for each in takes))

    def _forget(self, now: int) -> None:
        """Forget the windows that were over when one of those in use began."""
        for name in [name for name, ends in self._ends.items() if ends <= now]:
            del self._counts[name], self._ends[name]
        self._forget_at = FORGET_AT + len(self._counts)
