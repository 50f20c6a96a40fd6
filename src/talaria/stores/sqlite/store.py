"""The SQLite store, whole."""

import asyncio

from talaria.ports.leases import Leases
from talaria.ports.store import Commits
from talaria.stores.leases import EPOCH_BITS, LocalLeases
from talaria.stores.sqlite.changes import Changes
from talaria.stores.sqlite.files import Files, next_generation
from talaria.stores.sqlite.inbox import SqliteInbox
from talaria.stores.sqlite.index import SqliteIndex
from talaria.stores.sqlite.journal import SqliteBlobs, SqliteJournal
from talaria.stores.sqlite.reader import Reader
from talaria.stores.sqlite.writer import Writer


class NoLeases:
    """The leases of a process that does not own the file: somebody else holds them all."""

    async def acquire(self, session: str) -> int | None:
        """See the port."""
        return None

    async def release(self, session: str, epoch: int) -> None:
        """See the port."""


class SqliteStore:
    """One file, one process that runs on it. Use `open`."""

    def __init__(self, files: Files, epoch_bits: int = EPOCH_BITS) -> None:
        self._files = files
        self._writer = Writer(files.writer)
        self._reader = Reader(files.reader)
        self._closing: asyncio.Task[None] | None = None
        is_owner = files.lock is not None
        self._leases = LocalLeases(files.generation, self._next_generation, epoch_bits) if is_owner else None
        self.leases: Leases = self._leases or NoLeases()
        self.journal = SqliteJournal(self._writer, self._reader, self._leases)
        self.index = SqliteIndex(self._writer, self._reader, is_owner=is_owner)
        self.inbox = SqliteInbox(self._writer, self._reader, files.newest_letter)
        self.blobs = SqliteBlobs(self._reader)

    @staticmethod
    async def open(path: str, *, owner: bool = True) -> "SqliteStore":
        """Open the file, made if need be, and become the one process that runs on it.

        `owner=False` opens a file that another process runs on: to read it and to put letters.

        Raises:
            ConfigurationError: another process runs on it, it is of a later version, or it cannot be opened.
        """
        opening = asyncio.create_task(asyncio.to_thread(Files, path, owner=owner))
        try:
            return SqliteStore(await asyncio.shield(opening))
        except asyncio.CancelledError:
            opening.add_done_callback(_discard)
            raise

    @property
    def commits(self) -> Commits:
        """See the port. A commit that wrote nothing is none."""
        return self._writer.commits

    async def check(self) -> None:
        """See the port. It is tried: a row is written."""
        await self._writer.run(_touch)

    async def close(self) -> None:
        """See the port."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._leases is not None:
            self._leases.close()
        await self._writer.close()
        await self._reader.close()
        self.inbox.close()
        self.journal.close()
        self._files.release()

    async def _next_generation(self) -> int:
        return await self._writer.run(lambda changes: next_generation(changes.sql()))


def _touch(changes: Changes) -> None:
    changes.sql().execute("UPDATE meta SET value = value + 1 WHERE key = 'checked'")


def _discard(opening: "asyncio.Task[Files]") -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().discard()
