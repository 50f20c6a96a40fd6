"""The statements that write: one for all rows of a table.

Between two statements a thread gives the interpreter lock away, and under a busy event loop it waits long to get it
back. So a group of appends is one statement a table, however many sessions are in it.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

ROWS_A_STATEMENT = 64


class Statement(msgspec.Struct, frozen=True, gc=False):
    """A statement that takes many rows: `row` is repeated between `start` and `end`."""

    start: str
    row: str
    columns: int
    end: str = ""


ENTRIES = Statement("INSERT INTO entry(session, seq, data) VALUES ", "(?, ?, ?)", 3)
PUTS = Statement(
    "INSERT INTO idx(kind, key, session, scope, at, data) VALUES ",
    "(?, ?, ?, ?, ?, ?)",
    6,
    """ ON CONFLICT DO UPDATE SET session = excluded.session, scope = excluded.scope, at = excluded.at,
    data = excluded.data""",
)
DROPS = Statement("DELETE FROM idx WHERE (kind, key) IN (VALUES ", "(?, ?)", 2, ")")
CONSUMED = Statement("UPDATE letter SET consumed = 1 WHERE key IN (", "?", 1, ")")
BLOBS = Statement(
    "INSERT INTO blob(session, ref, data) VALUES ", "(?, ?, ?)", 3, " ON CONFLICT DO UPDATE SET data = excluded.data"
)


def parts(statement: Statement, values: Sequence[object]) -> Iterable[tuple[str, Sequence[object]]]:
    """The statement with all its values, row after row; several times if the rows are very many."""
    step = ROWS_A_STATEMENT * statement.columns
    for start in range(0, len(values), step):
        part = values[start : start + step]
        yield _sql(statement, len(part) // statement.columns), part


@lru_cache
def _sql(statement: Statement, rows: int) -> str:
    return f"{statement.start}{', '.join([statement.row] * rows)}{statement.end}"
