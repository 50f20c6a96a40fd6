"""Rows of usage in the index: what each minute brought, and days that are summed up."""

from collections.abc import AsyncIterator

import msgspec

from talaria.core.ids import SessionKey
from talaria.journal.spending import UsageRow
from talaria.ports.journal import Index, Put

DAYS, SUMMED = "usage_day", "usage_summed"
"""Rows of whole days, and the one row whose `at` says up to when there are such: rows of minutes before it are void."""
AT_ONCE = 1_000

usage_row = msgspec.json.Decoder(UsageRow).decode


async def summed_until(index: Index) -> int:
    """Up to when days are summed up, in ms."""
    mark = await index.get(SUMMED, "")
    return 0 if mark is None else mark.at


async def rows_between(index: Index, kind: str, scope: str | None, first: int, end: int | None) -> AsyncIterator[Put]:
    """All rows of a kind with first <= at < end (None: for ever), newest first."""
    before = None if end is None else (end, "")
    while rows := await index.find(kind, scope, before=before, limit=AT_ONCE):
        for row in rows:
            if row.at < first:
                return
            yield row
        before = (rows[-1].at, rows[-1].key)


def whose(row: Put) -> tuple[str, str]:
    """The tenant and the user of a row."""
    key = SessionKey.parse(f"{row.scope}/-/-")
    return key.tenant, key.user
