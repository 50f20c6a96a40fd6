"""What the operations of one transaction write, gathered so that it is written and committed at once."""

import sqlite3
from collections.abc import Sequence

from talaria.core.errors import SeqConflict, StaleOwner
from talaria.ports.journal import Batch, Drop, IndexRow, Put
from talaria.stores.sqlite.heads import Heads
from talaria.stores.sqlite.statements import BLOBS, CONSUMED, DROPS, ENTRIES, PUTS, ROWS_A_STATEMENT, parts

# A process that only puts letters holds the lock for milliseconds; a tool that keeps it must not stop us for good.
TRIES = 12


class Changes:
    """The writes of one transaction. Appends are gathered; `sql` is for operations that need SQL of their own."""

    def __init__(self, connection: sqlite3.Connection, heads: Heads) -> None:
        self._connection = connection
        self._heads = heads
        self._entries: list[object] = []  # values, row after row
        self._index: dict[tuple[str, str], IndexRow] = {}
        self._consumed: list[object] = []
        self._blobs: list[object] = []

    def append(self, batch: Batch) -> int:
        """Gather an append, unless the session's head refuses it; return the new last seq.

        Raises:
            SeqConflict, StaleOwner: nothing of it was gathered.
        """
        session = batch.session
        seq, epoch = self._heads.get(session)
        if batch.epoch < epoch:
            raise StaleOwner(f"{session}: epoch {batch.epoch} is over, the newest is {epoch}")
        if batch.expected_seq != seq:
            raise SeqConflict(f"{session}: the last seq is {seq}, not {batch.expected_seq}")
        for data in batch.entries:
            seq += 1
            self._entries += (session, seq, data)
        self._heads.set(session, (seq, batch.epoch))
        self.index(batch.index)
        self._consumed += batch.consumed
        for ref, data in batch.blobs:
            self._blobs += (session, ref, data)
        return seq

    def index(self, rows: Sequence[IndexRow]) -> None:
        """Gather index rows; the last one of a key counts."""
        for row in rows:
            self._index[row.kind, row.key] = row

    def sql(self) -> sqlite3.Connection:
        """Begin the transaction, write what was gathered so far, and return the connection to go on with."""
        connection = self._connection
        if not connection.in_transaction:
            _patiently(connection, "BEGIN IMMEDIATE", ())
        puts = [row for row in self._index.values() if isinstance(row, Put)]
        drops = [row for row in self._index.values() if isinstance(row, Drop)]
        for statement, values in (
            (ENTRIES, self._entries),
            (PUTS, [value for row in puts for value in (row.kind, row.key, row.session, row.scope, row.at, row.data)]),
            (DROPS, [value for row in drops for value in (row.kind, row.key)]),
            (CONSUMED, self._consumed),
            (BLOBS, self._blobs),
        ):
            for sql, part in parts(statement, values):
                connection.execute(sql, part)
        self._entries, self._index, self._consumed, self._blobs = [], {}, [], []
        return connection

    def forget(self, session: str) -> None:
        """A session was deleted, and what is below it."""
        self._heads.forget(session)

    def commit(self) -> bool:
        """Make it durable; return whether there was anything."""
        entries = self._entries
        rest = self._connection.in_transaction or self._index or self._consumed or self._blobs
        if rest or len(entries) > ROWS_A_STATEMENT * ENTRIES.columns:
            self.sql().execute("COMMIT")
        elif entries:  # nothing else, as in most commits: one statement, which is its own transaction
            ((sql, values),) = parts(ENTRIES, entries)
            _patiently(self._connection, sql, values)
        else:
            return False
        self._heads.keep()
        return True


def is_busy(error: Exception) -> bool:
    """Whether another program had the database locked for longer than `busy_timeout`."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _patiently(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
    for _ in range(TRIES - 1):
        try:
            connection.execute(statement, values)
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
        else:
            return
    connection.execute(statement, values)
