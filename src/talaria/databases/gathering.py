"""Gathers the rows of an answer within limits, as they come."""

from collections.abc import Sequence
from typing import Any

from talaria.databases.cells import plain, size
from talaria.ports.database import Answer, Limits


class Gathering:
    """The first rows are kept, the others only counted."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rows: list[tuple[Any, ...]] = []
        self._count = 0
        self._bytes = 0
        self._is_cut = False

    @property
    def is_full(self) -> bool:
        """Whether no more rows need to be read."""
        return self._count > self._limits.counted or self._is_cut

    def add(self, row: Sequence[Any]) -> None:
        """Take one more row."""
        self._count += 1
        self._bytes += size(row)
        self._is_cut = self._bytes > self._limits.bytes
        if not self._is_cut and len(self._rows) < self._limits.rows:
            self._rows.append(tuple(map(plain, row)))

    def answer(self, columns: Sequence[str]) -> Answer:
        """What was gathered."""
        limits = self._limits
        note = f"reading stopped after {limits.bytes} bytes: select fewer or shorter columns" if self._is_cut else ""
        counted = self._count - 1 if self._count > limits.counted else self._count
        return Answer(tuple(columns), tuple(self._rows), counted, self.is_full, note)
