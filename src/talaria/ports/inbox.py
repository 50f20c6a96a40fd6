"""The inbox: how everybody but the owner speaks to a session."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import msgspec

from talaria.ports.journal import IndexRow


class Letter(msgspec.Struct, frozen=True, gc=False):
    """One row for the owner of a session to turn into entries.

    `key` is unique over the store: of two letters with one key the first is in force.
    `kind`: turn, decision or cancel. `run`: the run it starts or is about. `at`: ms.
    """

    session: str
    key: str
    kind: str
    run: str
    at: int
    body: bytes


class Inbox(Protocol):
    """Letters to sessions, durable once `put` returns."""

    async def put(self, letter: Letter, *, replace_before: int = 0, index: Sequence[IndexRow] = ()) -> Letter:
        """Insert the letter, unless its key is taken; return the letter that is in force (compare `is`/`==`).

        A consumed letter of that key with `at` < `replace_before` (ms) gives way. `index`: rows that are written with
        this letter, or not at all.

        Raises:
            StoreClosed: nothing can be written any more.
            JournalError: this was not written; the next may be.
        """
        ...

    async def get(self, key: str) -> Letter | None:
        """Return the letter of this key, pending or consumed."""
        ...

    async def turn(self, run: str) -> Letter | None:
        """Return the letter of kind `turn` that starts this run, pending or consumed."""
        ...

    async def pending(self, session: str) -> list[Letter]:
        """Return the session's letters that no append has consumed, in order of arrival."""
        ...

    async def waiting(self) -> list[str]:
        """Return the sessions with pending letters, in order of their oldest letter."""
        ...

    def watch(self) -> AsyncIterator[str]:
        """Yield the path of a session whenever a letter for it arrives, by this or (within a second) another process.

        One watcher a process. Letters that were pending before are not told: see `waiting`.
        """
        ...
