"""The one reader: its own connection sees the last commit and is never in the writer's way."""

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from talaria.core.errors import JournalError
from talaria.stores.sqlite.worker import Job, Worker

T = TypeVar("T")


class Reader:
    """Does queries on its thread. One that starts after an append returned sees it.

    A query that the database refuses gets a JournalError, which says nothing of the next one; StoreClosed is for good.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._worker: Worker[sqlite3.Connection] = Worker("talaria-store-reader", self._perform, connection.close)

    async def run(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Do one query."""
        return await self._worker.submit(query)

    async def rows(self, sql: str, *values: object) -> list[Any]:
        """Do one SELECT and return its rows as tuples."""
        return await self._worker.submit(lambda connection: connection.execute(sql, values).fetchall())

    def check(self) -> None:
        """Raise StoreClosed unless open."""
        self._worker.check()

    async def close(self) -> None:
        """Do what is queued and close the connection."""
        await self._worker.close()

    def _perform(self, jobs: list[Job[sqlite3.Connection, Any]]) -> None:
        for job in jobs:
            try:
                job.result = job.work(self._connection)
            except sqlite3.DatabaseError as error:
                job.error = JournalError(f"the database cannot be read now ({error}); try again")
                job.error.__cause__ = error
            except Exception as error:  # noqa: BLE001 - a query's boundary: it must not hurt the others
                job.error = error
