"""Rows of usage in the index: what each minute brought, and days that are summed up."""

from collections.abc import AsyncIterator

import msgspec

from talaria.journal.spending import UsageRow
from talaria.ports.journal import Index, Put
from talaria.runtime.index_rows import all_rows

DAYS, SUMMED = "usage_day", "usage_summed"
"""Rows of whole days, and the one row whose `at` says up to when there are such: rows of minutes before it are void."""

usage_row = msgspec.json.Decoder(UsageRow).decode


async def summed_until(index: Index) -> int:
    """Up to when days are summed up, in ms."""
    mark = await index.get(SUMMED, "")
    return 0 if mark is None else mark.at


def rows_between(index: Index, kind: str, scope: str | None, first: int, end: int | None) -> AsyncIterator[Put]:
    """All rows of a kind with first <= at < end (None: for ever), newest first."""
    return all_rows(index, kind, scope, since=first, before=None if end is None else (end, ""))
