"""What the operations of one transaction write, gathered so that it is written and committed at once."""

import sqlite3
from collections.abc import Sequence

from talaria.core.errors import SeqConflict, StaleOwner
from talaria.ports.journal import Batch, IndexRow
from talaria.stores.sqlite import change
from talaria.stores.sqlite.heads import Head, Heads

# A process that only puts letters holds the lock for milliseconds; a tool that keeps it must not stop us for good.
TRIES = 12


class Changes:
    """The writes of one transaction. Appends are gathered; `sql` is for operations that need SQL of their own."""

    def __init__(self, connection: sqlite3.Connection, heads: Heads) -> None:
        self._connection = connection
        self._heads = heads
        self._rows: list[change.Row] = []
        self._new_heads: dict[str, Head] = {}
        self._index: dict[tuple[str, str], IndexRow] = {}

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
            self._rows.append(change.entry(session, seq, data))
        self._new_heads[session] = (seq, batch.epoch)
        self._heads.set(session, (seq, batch.epoch))
        self.index(batch.index)
        self._rows += map(change.consume, batch.consumed)
        for ref, data in batch.blobs:
            self._rows.append(change.blob(session, ref, data))
        return seq

    def index(self, rows: Sequence[IndexRow]) -> None:
        """Gather index rows; the last one of a key counts."""
        for row in rows:
            self._index[row.kind, row.key] = row

    def sql(self) -> sqlite3.Connection:
        """Begin the transaction, write what was gathered so far, and return the connection to go on with."""
        if not self._connection.in_transaction:
            _patiently(self._connection, "BEGIN IMMEDIATE", ())
        for statement, values in change.statements(self._take()):
            self._connection.execute(statement, values)
        return self._connection

    def forget_heads(self) -> None:
        """Sessions were deleted."""
        self._heads.forget()

    def commit(self) -> bool:
        """Make it durable; return whether there was anything."""
        if not self._connection.in_transaction:
            rows = self._take()
            if len(rows) <= change.ROWS_A_STATEMENT:
                for statement, values in change.statements(rows):
                    _patiently(self._connection, statement, values)
                return bool(rows)
            self._rows = rows
        self.sql().execute("COMMIT")
        return True

    def _take(self) -> list[change.Row]:
        rows = self._rows
        rows += [change.head(session, *head) for session, head in self._new_heads.items()]
        rows += map(change.index, self._index.values())
        self._rows, self._new_heads, self._index = [], {}, {}
        return rows


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
