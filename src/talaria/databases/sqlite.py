"""SQLite: a connection for each question, on a thread; the file is opened for reading, and every access is judged."""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from talaria.databases.allowed import Allowed
from talaria.databases.gathering import Gathering
from talaria.databases.sqlite_judge import judge
from talaria.databases.threads import Threads
from talaria.ports.database import Answer, Column, DatabaseUnavailable, Limits, Name, Query, QueryRefused, Table

T = TypeVar("T")
STEPS = 10_000
"""Steps of SQLite's machine between looks at the clock."""
LENGTHS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
}
_MOST = 1000
_FIRST_USE = "SELECT 1 FROM json_each('[]'), json_tree('[]')"
"""SQLite makes these tables at their first use, and asks for rights that no statement of a model has."""


class SqliteDatabase:
    """A file of SQLite that somebody else may write meanwhile. At most `at_once` questions run at a time."""

    def __init__(self, path: Path, allowed: Allowed, limits: Limits, at_once: int) -> None:
        self._path = path
        self._allowed = allowed
        self._limits = limits
        self._threads = Threads(at_once)

    async def answer(self, query: Query) -> Answer:
        """See the port."""
        return await self._do(lambda connection: self._answer(connection, query))

    async def tables(self) -> list[Table]:
        """See the port."""
        return await self._do(self._tables)

    async def columns(self, table: Name) -> list[Column]:
        """See the port."""
        return await self._do(lambda connection: _columns(connection, table))

    async def close(self) -> None:
        """See the port."""
        self._threads.close()

    async def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do work on a connection of its own."""
        given_up = threading.Event()
        return await self._threads.run(lambda: self._on_thread(work, given_up), given_up.set)

    def _on_thread(self, work: Callable[[sqlite3.Connection], T], given_up: threading.Event) -> T:
        until = time.monotonic() + self._limits.seconds
        try:
            with closing(self._open()) as connection:
                _prepare(connection)
                connection.set_progress_handler(lambda: given_up.is_set() or time.monotonic() > until, STEPS)
                return work(connection)
        except sqlite3.OperationalError as error:
            if str(error) == "interrupted":
                raise QueryRefused(f"the query took longer than {self._limits.seconds:g} s; make it simpler") from error
            raise DatabaseUnavailable("the database cannot be read now", operator=str(error)) from error
        except sqlite3.DatabaseError as error:
            raise DatabaseUnavailable("the database cannot be read now", operator=str(error)) from error

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{quote(str(self._path))}?mode=ro", uri=True, timeout=self._limits.seconds)

    def _answer(self, connection: sqlite3.Connection, query: Query) -> Answer:
        kinds = _kinds(connection)
        readable = {name for name in kinds if Name("main", name) in self._allowed}
        views = {name for name, kind in kinds.items() if kind == "view"}
        if taken := query.defined.intersection(kinds):
            raise QueryRefused(f"WITH {min(taken)}: that is a table's name; give it another")
        connection.execute(_FIRST_USE).close()
        gathering = Gathering(self._limits)
        connection.set_authorizer(judge(readable, views, query))
        try:
            cursor = connection.execute(query.sql)
            columns = [each[0] for each in cursor.description or ()]
            for row in cursor:
                gathering.add(row)
                if gathering.is_full:
                    break
        except sqlite3.Error as error:
            if str(error) in ("interrupted", "database is locked"):
                raise
            raise QueryRefused(f"the database says: {error}") from error
        return gathering.answer(columns)

    def _tables(self, connection: sqlite3.Connection) -> list[Table]:
        there = [Table(Name("main", name), kind) for name, kind in sorted(_kinds(connection).items())]
        return [each for each in there if each.name in self._allowed][:_MOST]


def _prepare(connection: sqlite3.Connection) -> None:
    connection.executescript("PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=FILE;")
    for which, most in LENGTHS.items():
        connection.setlimit(which, most)
    connection.text_factory = _text


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _kinds(connection: sqlite3.Connection) -> dict[str, str]:
    """Tables and views by name, in small letters: SQLite compares them so."""
    rows = connection.execute("SELECT lower(name), type FROM sqlite_schema WHERE type IN ('table', 'view')")
    return dict(rows.fetchall())


def _columns(connection: sqlite3.Connection, table: Name) -> list[Column]:
    points = connection.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table.table,))
    references = {column: f"{other}.{key}" if key else str(other) for column, other, key in points.fetchall()}
    found = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table.table,))
    return [
        Column(name, kind or "any", not notnull and not pk, bool(pk), references.get(name, ""))
        for name, kind, notnull, pk in found.fetchmany(_MOST)
    ]
