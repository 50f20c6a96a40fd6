"""The journal: one append-only list of entries a session, and index rows over all sessions."""

from asyncio import Future
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import msgspec


class Record(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored: its place in its session, from 1, and its bytes."""

    seq: int
    data: bytes


class Put(msgspec.Struct, frozen=True, gc=False):
    """An index row, written over the row of the same (kind, key).

    `scope` is what listings are limited to (tenant/user), `at` (ms) what they are sorted by.
    """

    kind: str
    key: str
    session: str
    scope: str
    at: int
    data: bytes = b""


class Drop(msgspec.Struct, frozen=True, gc=False):
    """Removes the index row (kind, key), if there is one."""

    kind: str
    key: str


IndexRow = Put | Drop


class Batch(msgspec.Struct, frozen=True, gc=False):
    """One append: everything in it becomes durable together, or nothing of it does.

    `consumed`: keys of inbox letters that these entries answer; they are no longer pending afterwards.
    `blobs`: (reference, bytes) that the entries name.
    """

    session: str
    epoch: int
    expected_seq: int
    entries: tuple[bytes, ...]
    index: tuple[IndexRow, ...] = ()
    consumed: tuple[str, ...] = ()
    blobs: tuple[tuple[str, bytes], ...] = ()


class Journal(Protocol):
    """Entries of sessions. Every method may be called from one event loop; cancelling a call never half-does it."""

    def append(self, batch: Batch) -> Future[int]:
        """Append; the future gives the new last seq once all of it is durable. Appends apply in the order of the calls.

        Cancelling the future does not undo anything.

        Raises (the future does):
            SeqConflict: the session's last seq is not `expected_seq`.
            StaleOwner: a newer epoch has already been seen for this session.
            StoreClosed: nothing can be written any more.
            JournalError: this was not written; the next may be.
        """
        ...

    async def read(self, session: str, after: int = 0, limit: int = 10_000) -> list[Record]:
        """Return up to `limit` records with seq > `after`, in order of seq. An unknown session has none."""
        ...

    def tail(self, session: str, after: int = 0) -> AsyncIterator[Record]:
        """Yield every record with seq > `after`, in order, then wait for more, for as long as the caller likes.

        Appends by another process show within a second.
        """
        ...

    async def sessions(self, after: str = "", limit: int = 1_000) -> list[str]:
        """Return up to `limit` session paths > `after`, sorted."""
        ...

    async def delete(self, session: str) -> None:
        """Remove the session and all that hangs on it: entries, index rows, letters, blobs.

        The journals of turns without server memory (paths that begin with `session/`) go too. Unknown sessions are no
        error.
        """
        ...


class Index(Protocol):
    """Rows found across sessions. Only `append`, `replace` and `put` write them."""

    async def get(self, kind: str, key: str) -> Put | None:
        """Return the row, or None."""
        ...

    async def find(
        self, kind: str, scope: str | None = None, *, before: tuple[int, str] | None = None, limit: int = 100
    ) -> list[Put]:
        """Return rows of a kind, newest `at` first, ties by key descending.

        `scope`: only rows with this scope, or, when it ends in "/", with a scope that starts with it.
        `before`: only rows that come after the row with this (at, key) in that order: the cursor of a listing.
        """
        ...

    async def due(self, kind: str, at: int, limit: int = 1_000) -> list[Put]:
        """Return up to `limit` rows of a kind with row.at <= `at`, oldest first."""
        ...

    async def next_due(self, kind: str, after: int) -> int | None:
        """Return the smallest `at` > `after` of a kind, or None."""
        ...

    async def put(self, rows: Sequence[IndexRow]) -> None:
        """Write rows that hang on no session (theirs is ""), all or nothing; they are durable on return."""
        ...

    async def replace(self, session: str, rows: Sequence[Put]) -> None:
        """Drop all rows of a session and write these instead, all or nothing: how an index is rebuilt."""
        ...
