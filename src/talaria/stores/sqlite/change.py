"""All that appends write, as rows of one view: so a group of appends is one statement, and that statement one commit.

Between two statements a thread gives the interpreter lock away, and under a busy event loop it waits long to get it
back. The view and its triggers are temporary: they are in the writer's connection, not in the file.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache

from talaria.ports.journal import Drop, IndexRow

ROWS_A_STATEMENT = 64
COLUMNS = 7

Row = tuple[object, ...]

TRIGGERS = {
    "entry": "INSERT INTO entry(session, seq, data) VALUES (NEW.name, NEW.number, NEW.data)",
    "head": """INSERT INTO head(session, seq, epoch) VALUES (NEW.name, NEW.number, NEW.other)
               ON CONFLICT DO UPDATE SET seq = excluded.seq, epoch = excluded.epoch""",
    "put": """INSERT INTO idx(kind, key, session, scope, at, data)
              VALUES (NEW.name, NEW.key, NEW.other, NEW.scope, NEW.number, NEW.data)
              ON CONFLICT DO UPDATE SET session = excluded.session, scope = excluded.scope, at = excluded.at,
              data = excluded.data""",
    "drop": "DELETE FROM idx WHERE kind = NEW.name AND key = NEW.key",
    "consume": "UPDATE letter SET consumed = 1 WHERE key = NEW.key",
    "blob": """INSERT INTO blob(session, ref, data) VALUES (NEW.name, NEW.key, NEW.data)
               ON CONFLICT DO UPDATE SET data = excluded.data""",
}
ENTRY, HEAD, PUT, DROP, CONSUME, BLOB = range(6)


def prepare(connection: sqlite3.Connection) -> None:
    """Make the view and its triggers in this connection."""
    connection.execute(
        "CREATE TEMP VIEW change(what, name, key, number, other, scope, data) AS SELECT 0, 0, 0, 0, 0, 0, 0"
    )
    for what, (name, statement) in enumerate(TRIGGERS.items()):
        connection.execute(
            f"CREATE TEMP TRIGGER change_{name} INSTEAD OF INSERT ON change WHEN NEW.what = {what}"
            f" BEGIN {statement}; END"
        )


def entry(session: str, seq: int, data: bytes) -> Row:
    """An entry."""
    return (ENTRY, session, None, seq, None, None, data)


def head(session: str, seq: int, epoch: int) -> Row:
    """The head of a session."""
    return (HEAD, session, None, seq, epoch, None, None)


def index(row: IndexRow) -> Row:
    """An index row, or its removal."""
    if isinstance(row, Drop):
        return (DROP, row.kind, row.key, None, None, None, None)
    return (PUT, row.kind, row.key, row.at, row.session, row.scope, row.data)


def consume(key: str) -> Row:
    """A letter that is no longer pending."""
    return (CONSUME, None, key, None, None, None, None)


def blob(session: str, ref: str, data: bytes) -> Row:
    """A blob."""
    return (BLOB, session, ref, None, None, None, data)


def statements(rows: Sequence[Row]) -> Iterable[tuple[str, list[object]]]:
    """The statements, with their values, that write these rows: one, unless the rows are very many."""
    for start in range(0, len(rows), ROWS_A_STATEMENT):
        part = rows[start : start + ROWS_A_STATEMENT]
        yield _sql(len(part)), [value for row in part for value in row]


@lru_cache(maxsize=ROWS_A_STATEMENT)
def _sql(rows: int) -> str:
    row = f"({', '.join('?' * COLUMNS)})"
    return f"INSERT INTO change VALUES {', '.join([row] * rows)}"  # noqa: S608 - nothing but question marks
