"""The index in memory: rows by kind and key, and a sorted list of (at, key) for each kind."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import islice

from talaria.ports.journal import Drop, IndexRow, Put
from talaria.stores.memory.state import MemoryState, is_within


class Shelf:
    """The rows of one kind."""

    __slots__ = ("order", "rows")

    def __init__(self) -> None:
        self.rows: dict[str, Put] = {}
        self.order: list[tuple[int, str]] = []

    def put(self, row: Put) -> None:
        """Write a row over the one of its key."""
        old = self.rows.get(row.key)
        if old is None or old.at != row.at:
            if old is not None:
                del self.order[bisect_left(self.order, (old.at, old.key))]
            insort(self.order, (row.at, row.key))
        self.rows[row.key] = row

    def drop(self, key: str) -> None:
        """Remove a row, if it is there."""
        old = self.rows.pop(key, None)
        if old is not None:
            del self.order[bisect_left(self.order, (old.at, key))]


class MemoryIndex:
    """See ports.journal.Index."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state
        self._shelves: dict[str, Shelf] = {}

    def write(self, rows: Iterable[IndexRow]) -> None:
        """Apply the rows of an append, in order."""
        for row in rows:
            shelf = self._shelves.get(row.kind)
            if shelf is None:
                shelf = self._shelves[row.kind] = Shelf()
            if isinstance(row, Drop):
                shelf.drop(row.key)
            else:
                shelf.put(row)

    def forget(self, session: str, *, below: bool) -> None:
        """Drop all rows of a session, with `below` also those of the paths under it."""
        for shelf in self._shelves.values():
            gone = [
                row.key
                for row in shelf.rows.values()
                if row.session == session or (below and is_within(row.session, session))
            ]
            for key in gone:
                shelf.drop(key)

    async def get(self, kind: str, key: str) -> Put | None:
        """See the port."""
        self._state.check()
        shelf = self._shelves.get(kind)
        return shelf.rows.get(key) if shelf is not None else None

    async def find(
        self, kind: str, scope: str | None = None, *, before: tuple[int, str] | None = None, limit: int = 100
    ) -> list[Put]:
        """See the port."""
        self._state.check()
        shelf = self._shelves.get(kind) or Shelf()
        end = len(shelf.order) if before is None else bisect_left(shelf.order, before)
        newest_first = (shelf.rows[shelf.order[place][1]] for place in range(end - 1, -1, -1))
        return list(islice((row for row in newest_first if _is_in(scope, row.scope)), limit))

    async def due(self, kind: str, at: int, limit: int = 1_000) -> list[Put]:
        """See the port."""
        self._state.check()
        shelf = self._shelves.get(kind) or Shelf()
        end = bisect_left(shelf.order, (at + 1, ""))
        return [shelf.rows[key] for _, key in shelf.order[: min(end, limit)]]

    async def next_due(self, kind: str, after: int) -> int | None:
        """See the port."""
        self._state.check()
        shelf = self._shelves.get(kind) or Shelf()
        place = bisect_right(shelf.order, after, key=lambda item: item[0])
        return shelf.order[place][0] if place < len(shelf.order) else None

    async def put(self, rows: Sequence[IndexRow]) -> None:
        """See the port."""
        self._state.check()
        self.write(rows)

    async def replace(self, session: str, rows: Sequence[Put]) -> None:
        """See the port."""
        self._state.check()
        self.forget(session, below=False)
        self.write(rows)


def _is_in(wanted: str | None, scope: str) -> bool:
    if wanted is None:
        return True
    return scope.startswith(wanted) if wanted.endswith("/") else scope == wanted
