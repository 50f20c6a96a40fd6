"""Counters: how much of each quota is taken. Whoever admits work takes room there first."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Take(msgspec.Struct, frozen=True, gc=False):
    """An amount for a counter. `window` is when the counter's window begins (ms), `ends` when nobody needs it any more.

    `most` is what the counter may hold at most.
    """

    key: str
    window: int
    ends: int
    amount: float
    most: float


class Full(msgspec.Struct, frozen=True, gc=False):
    """Which of the amounts had no room (its place in the list), and what its counter holds."""

    at: int
    holds: float


class Counters(Protocol):
    """Counters by key and window. Both methods are atomic, whoever else counts."""

    async def take(self, takes: Sequence[Take]) -> Full | None:
        """Add all amounts, if every counter then holds no more than its most; else add none, and say which is full."""
        ...

    async def add(self, takes: Sequence[Take]) -> None:
        """Add amounts whatever the counters hold; negative ones give back."""
        ...
