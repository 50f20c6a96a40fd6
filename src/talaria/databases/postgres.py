"""PostgreSQL: transactions that cannot write, for a role that has no rights on the server's files and programs."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from talaria.databases.allowed import Allowed
from talaria.databases.cells import plain
from talaria.ports.database import Answer, Column, DatabaseUnavailable, Limits, Name, Query, QueryRefused, Table

_GRACE = 5.0
"""Seconds that the server has to say itself that a query takes too long."""
_MOST = 1000
_DIGITS = 400
_driver: Any = asyncpg
"""It has no types of its own."""
_AS_JSON = """
SELECT CASE WHEN octet_length(shown) <= {most} THEN shown END
FROM (SELECT row_to_json(answer)::text AS shown FROM (
{query}
) AS answer{names}) AS shortened
"""
"""Each row as JSON, which the server makes of any type; a row that is too long does not leave the server."""
_ROLE = """
SELECT rolsuper OR EXISTS (
    SELECT FROM pg_roles AS r
    WHERE r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    AND pg_has_role(current_user, r.oid, 'MEMBER'))
FROM pg_roles WHERE rolname = current_user
"""
_TABLES = """
SELECT n.nspname, c.relname, CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
    coalesce(obj_description(c.oid, 'pg_class'), '')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^(pg_|information_schema$)'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
    AND ($1::text[] IS NULL OR n.nspname || '.' || c.relname = ANY ($1))
ORDER BY 1, 2 LIMIT $2
"""
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
    EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey)),
    coalesce((SELECT o.relname || '.' || k.attname FROM pg_constraint AS f JOIN pg_class AS o ON o.oid = f.confrelid
        JOIN pg_attribute AS k ON k.attrelid = f.confrelid AND k.attnum = f.confkey[1]
        WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.conkey = ARRAY[a.attnum] LIMIT 1), ''),
    coalesce(col_description(c.oid, a.attnum), '')
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
    AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY a.attnum LIMIT $3
"""


class PostgresDatabase:
    """A database of PostgreSQL, through at most `at_once` connections."""

    def __init__(self, url: str, allowed: Allowed, limits: Limits, at_once: int) -> None:
        self._url = url
        self._allowed = allowed
        self._limits = limits
        self._at_once = at_once
        self._pool: Any = None
        self._opening = asyncio.Lock()

    async def answer(self, query: Query) -> Answer:
        """See the port."""
        limits = self._limits
        try:
            async with asyncio.timeout(limits.seconds + _GRACE), self._transaction() as connection:
                columns = (await connection.prepare(query.sql)).get_attributes()
                sql = _AS_JSON.format(most=limits.bytes, query=query.sql, names=_names(len(columns)))
                cursor = await connection.cursor(sql)
                rows = [row[0] for row in await cursor.fetch(limits.rows)]
                more = await cursor.forward(limits.counted + 1 - len(rows)) if len(rows) == limits.rows else 0
        except (TimeoutError, asyncpg.QueryCanceledError) as error:
            raise QueryRefused(f"the query took longer than {limits.seconds:g} s; make it simpler") from error
        except asyncpg.PostgresError as error:
            raise _refused(error) from error
        return self._made(columns, rows, len(rows) + more)

    def _made(self, columns: Sequence[Any], rows: list[str | None], count: int) -> Answer:
        types = [each.type.name for each in columns]
        kept: list[tuple[Any, ...]] = []
        left, note = self._limits.bytes, ""
        for row in rows:
            left -= self._limits.bytes if row is None else len(row)
            if row is None or left < 0:
                note = f"row {len(kept) + 1} goes beyond {self._limits.bytes} bytes: select fewer or shorter columns"
                break
            kept.append(tuple(map(_value, _values(row), types)))
        most = self._limits.counted
        return Answer(tuple(each.name for each in columns), tuple(kept), min(count, most), count > most, note)

    async def tables(self) -> list[Table]:
        """See the port."""
        listed = self._allowed.listed
        names = None if listed is None else [f"{each.schema}.{each.table}" for each in listed]
        rows = await self._look_up(_TABLES, names, _MOST)
        found = [Table(Name(schema, table), kind, comment) for schema, table, kind, comment in rows]
        return [each for each in found if each.name in self._allowed]

    async def columns(self, table: Name) -> list[Column]:
        """See the port."""
        return [Column(*row) for row in await self._look_up(_COLUMNS, table.schema, table.table, _MOST)]

    async def close(self) -> None:
        """See the port."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.terminate()
            await asyncio.sleep(0)  # for the transports to close

    async def _look_up(self, sql: str, *values: Any) -> list[Any]:
        try:
            async with asyncio.timeout(self._limits.seconds + _GRACE), self._transaction() as connection:
                return await connection.fetch(sql, *values)
        except (TimeoutError, asyncpg.PostgresError) as error:
            raise _unavailable(error) from error

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[Any]:
        pool = await self._open()
        try:
            connection = await pool.acquire()
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise _unavailable(error) from error
        try:
            transaction = connection.transaction(readonly=True)
            await transaction.start()
            try:
                yield connection
            finally:  # PostgreSQL 15 still makes large objects in a transaction that only reads
                async with asyncio.timeout(_GRACE):
                    await transaction.rollback()
        except (OSError, asyncpg.InterfaceError, asyncpg.PostgresConnectionError) as error:
            raise _unavailable(error) from error
        finally:
            await pool.release(connection, timeout=_GRACE)

    async def _open(self) -> Any:
        async with self._opening:
            if self._pool is None:
                options = await asyncio.to_thread(_options, self._url)
                milliseconds = str(max(1, int(self._limits.seconds * 1000)))
                self._pool = await _driver.create_pool(
                    **options,
                    min_size=0,
                    max_size=self._at_once,
                    init=_check_role,
                    timeout=10,
                    statement_cache_size=0,
                    server_settings={
                        "default_transaction_read_only": "on",
                        "statement_timeout": milliseconds,
                        "lock_timeout": milliseconds,
                        "idle_in_transaction_session_timeout": "60000",
                        "search_path": self._allowed.home,
                        "standard_conforming_strings": "on",
                        "application_name": "talaria",
                    },
                )
            return self._pool


def _options(url: str) -> dict[str, Any]:
    """What the driver needs of the URL; read here, because the driver looks into files for what it is not told."""
    parts = urlsplit(url)
    mode = parse_qs(parts.query).get("sslmode", ["disable"])[0]
    context = ssl.create_default_context() if mode != "disable" else False
    if mode == "require" and context:  # encrypted, whoever the server is; verify-full is the way to know
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return {
        "host": parts.hostname or "127.0.0.1",
        "port": parts.port or 5432,
        "user": unquote(parts.username or "postgres"),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.lstrip("/")) or "postgres",
        "ssl": context,
    }


async def _check_role(connection: Any) -> None:
    """Refuse a role for which even reading has no bounds.

    Raises:
        DatabaseUnavailable: it may read the server's files, or run its programs.
    """
    if await connection.fetchval(_ROLE):
        raise DatabaseUnavailable(
            "the database is not configured safely", operator="its role may read the server's files; give it another"
        )


def _names(count: int) -> str:
    """Names for so many columns, which the statement may have given the same name."""
    return f"({', '.join(f'c{place}' for place in range(count))})" if count else ""


def _values(row: str) -> list[Any]:
    found: dict[str, Any] = json.loads(row, parse_float=Decimal, parse_int=_number)
    return list(found.values())


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS else digits


def _value(value: Any, kind: str) -> Any:
    """Exact numbers are text, others numbers; what is inside of arrays and JSON stays exact."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and kind == "numeric":
        return plain(str(value))
    return float(value) if isinstance(value, Decimal) else plain(value)


def _refused(error: asyncpg.PostgresError) -> QueryRefused:
    said = [str(error.args[0] if error.args else error), getattr(error, "hint", None)]
    return QueryRefused("the database says: " + "; ".join(each for each in said if each))


def _unavailable(error: Exception) -> DatabaseUnavailable:
    if isinstance(error, DatabaseUnavailable):
        return error
    return DatabaseUnavailable("the database cannot be reached now", operator=f"{type(error).__name__}: {error}")
