"""The journal on SQLite."""

import asyncio
from collections.abc import AsyncIterator

from talaria.core.errors import JournalError, NotFound, StaleOwner
from talaria.ports.journal import Batch, Record
from talaria.stores.leases import LocalLeases
from talaria.stores.signals import Listeners
from talaria.stores.sqlite.changes import Changes
from talaria.stores.sqlite.reader import Reader
from talaria.stores.sqlite.writer import Writer

POLL_SECONDS = 0.5
PAGE = 1_000
DELETES = tuple(
    f"DELETE FROM {table} WHERE {condition}"  # noqa: S608 - both from this file
    for table in ("entry", "idx", "letter", "blob")
    for condition in ("session = :session", "session >= :session || '/' AND session < :session || '0'")
)  # "0" follows "/" in every order: the range holds exactly the paths that begin with `session/`

READ = "SELECT seq, data FROM entry WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?"
SESSIONS = """
    WITH RECURSIVE path(session) AS (
      SELECT min(session) FROM entry WHERE session > ?
      UNION ALL SELECT (SELECT min(session) FROM entry WHERE session > path.session) FROM path WHERE session NOT NULL)
    SELECT session FROM path WHERE session NOT NULL LIMIT ?"""  # from one session's entries to the next one's


class SqliteJournal:
    """See ports.journal.Journal. Without leases (the process does not own the file) it only reads."""

    def __init__(self, writer: Writer, reader: Reader, leases: LocalLeases | None) -> None:
        self._writer = writer
        self._reader = reader
        self._leases = leases
        self._listeners = Listeners()
        # Only the owner appends, and hears of it at once.
        self._poll = None if leases is not None else POLL_SECONDS

    def append(self, batch: Batch) -> "asyncio.Future[int]":
        """See the port."""
        try:
            if self._leases is None:
                raise StaleOwner(f"{batch.session}: another process runs on this file, this one only reads")
            self._leases.check(batch)
            return self._writer.submit(lambda changes: changes.append(batch), lambda _: self._wake(batch.session))
        except JournalError as error:
            refused: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            refused.set_exception(error)
            return refused

    def _wake(self, session: str) -> None:
        self._listeners.wake(session)

    async def read(self, session: str, after: int = 0, limit: int = 10_000) -> list[Record]:
        """See the port."""
        return await self._reader.run(
            lambda connection: [
                Record(seq, data) for seq, data in connection.execute(READ, (session, after, limit)).fetchall()
            ]
        )

    async def tail(self, session: str, after: int = 0) -> AsyncIterator[Record]:
        """See the port."""
        with self._listeners.listen(session) as event:
            while True:
                event.clear()
                records = await self.read(session, after, PAGE)
                for record in records:
                    after = record.seq
                    yield record
                if not records:
                    await wait(event, self._poll)

    async def sessions(self, after: str = "", limit: int = 1_000) -> list[str]:
        """See the port."""
        return [path for (path,) in await self._reader.rows(SESSIONS, after, limit)]

    async def delete(self, session: str) -> None:
        """See the port."""
        if self._leases is None:
            raise StaleOwner(f"{session}: another process runs on this file, this one only reads")
        await self._writer.run(lambda changes: _delete(changes, session))

    def close(self) -> None:
        """Let every reader of a tail see that the store is closed."""
        self._listeners.wake_all()


class SqliteBlobs:
    """See ports.blobs.Blobs."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def get(self, session: str, ref: str) -> bytes:
        """See the port."""
        rows = await self._reader.rows("SELECT data FROM blob WHERE session = ? AND ref = ?", session, ref)
        if not rows:
            raise NotFound(f"{session} has no blob {ref!r}")
        return rows[0][0]


async def wait(event: asyncio.Event, seconds: float | None) -> None:
    """Wait for the event, at most so long."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def _delete(changes: Changes, session: str) -> None:
    connection = changes.sql()
    for sql in DELETES:
        connection.execute(sql, {"session": session})
    changes.forget(session)
