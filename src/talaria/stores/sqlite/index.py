"""The index on SQLite."""

from collections.abc import Sequence
from typing import Any

from talaria.core.errors import StaleOwner
from talaria.ports.journal import IndexRow, Put
from talaria.stores.sqlite.changes import Changes
from talaria.stores.sqlite.reader import Reader
from talaria.stores.sqlite.writer import Writer

SELECT = "SELECT kind, key, session, scope, at, data FROM idx WHERE kind = ?"


class SqliteIndex:
    """See ports.journal.Index."""

    def __init__(self, writer: Writer, reader: Reader, *, is_owner: bool) -> None:
        self._writer = writer
        self._reader = reader
        self._is_owner = is_owner

    async def get(self, kind: str, key: str) -> Put | None:
        """See the port."""
        rows = await self._rows(f"{SELECT} AND key = ?", kind, key)
        return rows[0] if rows else None

    async def find(
        self, kind: str, scope: str | None = None, *, before: tuple[int, str] | None = None, limit: int = 100
    ) -> list[Put]:
        """See the port."""
        sql, values = SELECT, [kind]
        conditions: list[tuple[str, tuple[Any, ...]]] = []
        if scope is not None and scope.endswith("/"):
            # "+": walk the rows by time and stop at the limit, rather than sort all rows of a large tenant.
            conditions.append((" AND +scope >= ? AND +scope < ?", (scope, scope[:-1] + "0")))
        elif scope is not None:
            conditions.append((" AND scope = ?", (scope,)))
        if before is not None:
            conditions.append((" AND (at, key) < (?, ?)", before))
        for condition, more in conditions:
            sql += condition
            values += more
        return await self._rows(f"{sql} ORDER BY at DESC, key DESC LIMIT ?", *values, limit)

    async def due(self, kind: str, at: int, limit: int = 1_000) -> list[Put]:
        """See the port."""
        return await self._rows(f"{SELECT} AND at <= ? ORDER BY at, key LIMIT ?", kind, at, limit)

    async def next_due(self, kind: str, after: int) -> int | None:
        """See the port."""
        rows = await self._reader.rows("SELECT min(at) FROM idx WHERE kind = ? AND at > ?", kind, after)
        return rows[0][0]

    async def put(self, rows: Sequence[IndexRow]) -> None:
        """See the port."""
        if not self._is_owner:
            raise StaleOwner("another process runs on this file, this one only reads")
        await self._writer.run(lambda changes: changes.index(rows))

    async def replace(self, session: str, rows: Sequence[Put]) -> None:
        """See the port."""
        if not self._is_owner:
            raise StaleOwner(f"{session}: another process runs on this file, this one only reads")
        await self._writer.run(lambda changes: _replace(changes, session, rows))

    async def _rows(self, sql: str, *values: object) -> list[Put]:
        return await self._reader.run(
            lambda connection: [Put(*row) for row in connection.execute(sql, values).fetchall()]
        )


def _replace(changes: Changes, session: str, rows: Sequence[Put]) -> None:
    changes.sql().execute("DELETE FROM idx WHERE session = ?", (session,))
    changes.index(rows)
