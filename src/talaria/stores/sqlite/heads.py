"""The last seq and epoch of each session, in memory: only the one process that owns the file appends.

Epochs need no place in the file: owners of an earlier process ended with it, and this one's epochs are larger.
"""

import sqlite3

HEADS_KEPT = 20_000

Head = tuple[int, int]


class Heads:
    """Heads as they are, and as they will be once the running transaction is committed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[str, Head] = {}
        self._new: dict[str, Head] = {}

    def get(self, session: str) -> Head:
        """The head of a session, (0, 0) when it has none."""
        head = self._new.get(session) or self._known.get(session)
        if head is None:
            sql = "SELECT max(seq) FROM entry WHERE session = ?"
            seq = self._connection.execute(sql, (session,)).fetchone()[0]
            head = self._new[session] = (int(seq or 0), 0)
        return head

    def set(self, session: str, head: Head) -> None:
        """The head is going to be this."""
        self._new[session] = head

    def forget(self, session: str) -> None:
        """The session and the paths below it are going to be empty."""
        for path in (*self._known, *self._new):
            if path == session or path.startswith(f"{session}/"):
                self._new[path] = (0, 0)

    def keep(self) -> None:
        """The transaction is committed. Of very many heads, those set last are remembered."""
        for session, head in self._new.items():
            self._known.pop(session, None)
            self._known[session] = head
        self._new.clear()
        while len(self._known) > HEADS_KEPT:
            del self._known[next(iter(self._known))]

    def undo(self) -> None:
        """The transaction was rolled back."""
        self._new.clear()
