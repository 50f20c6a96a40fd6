"""Reading the index whole: rows of a kind, newest first, a piece at a time."""

from collections.abc import AsyncIterator

from talaria.ports.journal import Index, Put

AT_ONCE = 1_000


async def all_rows(
    index: Index,
    kind: str,
    scope: str | None = None,
    *,
    since: int = 0,
    before: tuple[int, str] | None = None,
    at_once: int = AT_ONCE,
) -> AsyncIterator[Put]:
    """Yield the rows of a kind in a scope (None: of everybody), newest first, read `at_once` together.

    `since` (ms): none that are older. `before`: only what comes after this (at, key) in that order.
    """
    while rows := await index.find(kind, scope, before=before, limit=at_once):
        for row in rows:
            if row.at < since:
                return
            yield row
        if len(rows) < at_once:
            return
        before = (rows[-1].at, rows[-1].key)


async def count_rows(index: Index, kind: str) -> int:
    """Count the rows of a kind."""
    count = 0
    async for _ in all_rows(index, kind):
        count += 1
    return count
