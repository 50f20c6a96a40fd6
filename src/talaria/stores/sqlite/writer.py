"""The one writer: what piled up while a commit ran goes into the next, and one sync makes all of it durable."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

from talaria.core.errors import JournalError, StoreClosed, TalariaError
from talaria.ports.store import Commits
from talaria.stores.sqlite.changes import Changes, is_busy
from talaria.stores.sqlite.heads import Heads
from talaria.stores.sqlite.worker import Job, Worker

T = TypeVar("T")


class Writer:
    """Does operations on its thread, in the order of the calls. Each takes effect wholly or not at all.

    An operation that raises a TalariaError must have written nothing; whatever else one raises is undone for it
    alone, by doing the others again. While another program has the file locked, they get a JournalError; when the disk
    takes no more, everything queued and later gets StoreClosed.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.commits = Commits()
        self._connection = connection
        self._heads = Heads(connection)
        self._failure = ""
        self._worker: Worker[Changes] = Worker("talaria-store-writer", self._perform, connection.close)

    def submit(self, work: Callable[[Changes], T], then: Callable[[T], None] | None = None) -> "asyncio.Future[T]":
        """Queue one operation; the future gives its result once it is durable. Cancelled, it may still be done.

        Raises:
            StoreClosed: nothing is written any more.
        """
        return self._worker.submit(work, then)

    async def run(self, work: Callable[[Changes], T], then: Callable[[T], None] | None = None) -> T:
        """Do one operation and return once it is durable. Cancelled, it may still have been done."""
        return await self._worker.submit(work, then)

    async def close(self) -> None:
        """Do what is queued and close the connection."""
        await self._worker.close()

    def _perform(self, jobs: list[Job[Changes, Any]]) -> None:
        if self._failure:
            _fail(jobs, StoreClosed(self._failure))
            return
        try:
            self._commit(jobs)
        except Exception as error:  # noqa: BLE001 - an operation's boundary: it must not hurt the others
            self._undo()
            self._recover(jobs, error)

    def _commit(self, jobs: list[Job[Changes, Any]]) -> None:
        began = time.perf_counter()
        changes = Changes(self._connection, self._heads)
        for job in jobs:
            job.error = None
            try:
                job.result = job.work(changes)
            except TalariaError as error:
                job.error = error
        if changes.commit():
            self.commits.seconds.add(time.perf_counter() - began)
            self.commits.operations.add(len(jobs))

    def _undo(self) -> None:
        self._heads.undo()
        if self._connection.in_transaction:
            self._connection.rollback()

    def _recover(self, jobs: list[Job[Changes, Any]], error: Exception) -> None:
        if is_busy(error):
            _fail(jobs, JournalError("another program keeps the database locked; find it and end it"), error)
        elif _is_of_the_disk(error):
            self._failure = f"the database takes no more writes ({error}); mend that and start again"
            _fail(jobs, StoreClosed(self._failure), error)
        elif len(jobs) == 1:
            jobs[0].error = JournalError("this cannot be stored", operator=repr(error))
            jobs[0].error.__cause__ = error
        else:
            for job in jobs:
                self._perform([job])


def _fail(jobs: list[Job[Changes, Any]], error: JournalError, cause: Exception | None = None) -> None:
    for job in jobs:
        job.error = type(error)(error.message)  # each its own: whoever raises it adds a traceback
        job.error.__cause__ = cause


def _is_of_the_disk(error: Exception) -> bool:
    own = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, own)
