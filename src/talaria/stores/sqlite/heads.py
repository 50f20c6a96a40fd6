"""The last seq and epoch of each session, remembered: only the one process that owns the file writes them."""

import sqlite3

HEADS_KEPT = 20_000

Head = tuple[int, int]


class Heads:
    """Heads as they are, or will be once the running transaction is committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[str, Head] = {}

    def get(self, session: str) -> Head:
        """The head of a session, (0, 0) when it has none."""
        head = self._known.get(session)
        if head is None:
            sql = "SELECT seq, epoch FROM head WHERE session = ?"
            row = self._connection.execute(sql, (session,)).fetchone()
            head = self._known[session] = (int(row[0]), int(row[1])) if row is not None else (0, 0)
        return head

    def set(self, session: str, head: Head) -> None:
        """The head is going to be this."""
        self._known[session] = head

    def trim(self) -> None:
        """Keep memory bounded, between two transactions."""
        if len(self._known) > HEADS_KEPT:
            self.forget()

    def forget(self) -> None:
        """Read them again: a transaction was rolled back, or sessions were deleted."""
        self._known.clear()
