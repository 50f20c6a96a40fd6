"""MySQL and MariaDB: transactions that cannot write, for a user without rights on the server's files."""

import re
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, unquote, urlsplit

import pymysql
from pymysql.connections import Connection
from pymysql.constants import FIELD_TYPE
from pymysql.converters import encoders
from pymysql.cursors import SSCursor

from talaria.databases.allowed import Allowed
from talaria.databases.gathering import Gathering
from talaria.databases.threads import Threads
from talaria.ports.database import Answer, Column, DatabaseUnavailable, Limits, Name, Query, QueryRefused, Table

T = TypeVar("T")
_GRACE = 5.0
_MOST = 1000
_DECODERS: dict[Any, Any] = dict.fromkeys(
    (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.INT24, FIELD_TYPE.LONGLONG, FIELD_TYPE.YEAR), int
) | dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), float)
"""Everything else stays the text that the server makes of it: exact numbers, and dates that no calendar has."""
_TOO_MUCH = re.compile(r"GRANT (?:.*\b)?(?:ALL PRIVILEGES|FILE|SUPER)\b.* ON \*\.\* TO .*", re.DOTALL)
_TOO_LONG = (1969, 3024)
"""Error numbers of MariaDB and MySQL for a statement that ran too long."""
_TABLES = """
SELECT table_schema, table_name, IF(table_type = 'VIEW', 'view', 'table'),
    IF(table_type = 'VIEW', '', table_comment)
FROM information_schema.tables
WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')
ORDER BY 1, 2
"""
_COLUMNS = """
SELECT c.column_name, c.column_type, c.is_nullable = 'YES', c.column_key = 'PRI',
    COALESCE((SELECT CONCAT(MIN(k.referenced_table_name), '.', MIN(k.referenced_column_name))
        FROM information_schema.key_column_usage AS k WHERE k.table_schema = c.table_schema
        AND k.table_name = c.table_name AND k.column_name = c.column_name
        AND k.referenced_table_name IS NOT NULL), ''), c.column_comment
FROM information_schema.columns AS c WHERE c.table_schema = %s AND c.table_name = %s ORDER BY c.ordinal_position
"""


class _Use:
    """One use of a connection. While somebody stops it, the connection cannot go to another use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection: Connection[Any] | None = None
        self.is_given_up = False

    def begin(self, connection: "Connection[Any]") -> None:
        with self.lock:
            if self.is_given_up:
                raise QueryRefused("the query was given up")
            self.connection = connection

    def end(self) -> None:
        with self.lock:
            self.connection = None


class MySqlDatabase:
    """A database of MySQL or MariaDB, through at most `at_once` connections, each used by a thread."""

    def __init__(self, url: str, allowed: Allowed, limits: Limits, at_once: int) -> None:
        self._url = url
        self._allowed = allowed
        self._limits = limits
        self._threads = Threads(at_once)
        self._idle: deque[Connection[Any]] = deque()

    async def answer(self, query: Query) -> Answer:
        """See the port."""
        return await self._do(lambda connection: self._answer(connection, query))

    async def tables(self) -> list[Table]:
        """See the port."""
        rows = await self._do(lambda connection: _rows(connection, _TABLES, ()))
        found = [Table(Name(schema, table), kind, comment) for schema, table, kind, comment in rows]
        return [each for each in found if each.name in self._allowed][:_MOST]

    async def columns(self, table: Name) -> list[Column]:
        """See the port."""
        rows = await self._do(lambda connection: _rows(connection, _COLUMNS, (table.schema, table.table)))
        return [Column(name, kind, bool(null), bool(key), *rest) for name, kind, null, key, *rest in rows[:_MOST]]

    async def close(self) -> None:
        """See the port."""
        self._threads.close()
        while self._idle:
            _close(self._idle.pop())

    async def _do(self, work: "Callable[[Connection[Any]], T]") -> T:
        """Do work on a connection; when the caller gives up, the server is told to stop."""
        use = _Use()
        return await self._threads.run(lambda: self._on_thread(work, use), lambda: self._kill(use))

    def _on_thread(self, work: "Callable[[Connection[Any]], T]", use: "_Use") -> T:
        """Do work; the connection is idle again unless something went wrong, or it is not read to its end."""
        try:
            connection = self._take()
            is_whole = False
            try:
                use.begin(connection)
                with connection.cursor() as cursor:
                    cursor.execute("START TRANSACTION READ ONLY")
                done = work(connection)
                if connection.open:
                    connection.rollback()
                    is_whole = True
            finally:
                use.end()
                if is_whole:
                    self._idle.append(connection)
                else:
                    _close(connection)
            return done
        except (pymysql.Error, OSError) as error:
            raise DatabaseUnavailable(
                "the database cannot be reached now", operator=f"{type(error).__name__}: {error}"
            ) from error

    def _take(self) -> "Connection[Any]":
        with suppress(IndexError):
            connection = self._idle.pop()
            with suppress(pymysql.Error, OSError):
                connection.ping(reconnect=False)
                return connection
        return self._open()

    def _open(self) -> "Connection[Any]":
        seconds = self._limits.seconds
        connection = self._connect(seconds + _GRACE)
        with ExitStack() as undo:
            undo.callback(_close, connection)
            limit, read_only = f"max_execution_time={int(seconds * 1000)}", "transaction_read_only"
            if "MariaDB" in str(cast("Any", connection).get_server_info()):
                limit, read_only = f"max_statement_time={seconds}", "tx_read_only"
            with connection.cursor() as cursor:
                cursor.execute(
                    f"SET SESSION {limit}, {read_only}=1, sql_mode='STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', "
                    f"group_concat_max_len=65536, sql_select_limit={self._limits.counted + 1}"
                )
                cursor.execute("SHOW GRANTS")
                grants = [str(row[0]) for row in cursor.fetchall()]
            if any(_TOO_MUCH.fullmatch(each) for each in grants):
                raise DatabaseUnavailable(
                    "the database is not configured safely",
                    operator="its user may read the server's files, or all is granted to it; give it another",
                )
            undo.pop_all()
        return connection

    def _connect(self, timeout: float) -> "Connection[Any]":
        parts = urlsplit(self._url)
        options = parse_qs(parts.query)
        connect = cast("Any", pymysql.connect)
        return connect(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=unquote(parts.path.lstrip("/")),
            charset="utf8mb4",
            conv=encoders | _DECODERS,
            connect_timeout=10,
            read_timeout=timeout,
            ssl=ssl.create_default_context() if options.get("ssl") == ["true"] else None,
        )

    def _kill(self, use: "_Use") -> None:
        """Stop what a connection does, through another one."""
        with use.lock:
            use.is_given_up = True
            if use.connection is None:
                return
            with suppress(pymysql.Error, OSError), self._connect(_GRACE) as other, other.cursor() as cursor:
                cursor.execute(f"KILL QUERY {cast('Any', use.connection).thread_id()}")

    def _answer(self, connection: "Connection[Any]", query: Query) -> Answer:
        gathering = Gathering(self._limits)
        cursor = connection.cursor(SSCursor)
        try:
            cursor.execute(query.sql)
            columns = [each[0] for each in cursor.description or ()]
            while not gathering.is_full and (row := cursor.fetchone()) is not None:
                gathering.add(row)
        except pymysql.Error as error:
            _leave(cursor)
            raise self._refused(error) from error
        if gathering.is_full:
            _leave(cursor)
            _close(connection)
        else:
            cursor.close()
        return gathering.answer(columns)

    def _refused(self, error: pymysql.Error) -> Exception:
        number, words = (*error.args, "", "")[:2]
        if number in _TOO_LONG:
            return QueryRefused(f"the query took longer than {self._limits.seconds:g} s; make it simpler")
        if isinstance(error, pymysql.OperationalError) and number in (2003, 2006, 2013):
            return error
        return QueryRefused(f"the database says: {words}")


def _rows(connection: "Connection[Any]", sql: str, values: tuple[str, ...]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


def _leave(cursor: SSCursor) -> None:
    """Let go of an answer, which the driver would else read to its end."""
    result = cast("Any", cursor)._result  # noqa: SLF001 - there is no public way
    if result is not None:
        result.unbuffered_active = False


def _close(connection: "Connection[Any]") -> None:
    """Close without a word to the server, which may be busy."""
    with suppress(pymysql.Error, OSError):
        cast("Any", connection)._force_close()  # noqa: SLF001 - close() would wait for the server
