"""The memories of a deployment: one for each tenant, user and assistant, kept in the store, in no session."""

import asyncio
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec

from talaria.core.ids import SessionKey, new_id, scope_of
from talaria.journal.index import AUDIT, AuditRow
from talaria.memory.commands import Done
from talaria.memory.files import File, Files, Limits, check_limits
from talaria.ports.clock import Clock
from talaria.ports.journal import Drop, Index, Put

MEMORY = "memory"
"""A row is the memory of one assistant for one user. No entry knows it: it cannot be rebuilt."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, File]).decode


class Whose(msgspec.Struct, frozen=True, gc=False):
    """Whose memory: that of an assistant ("-": of none) of a user."""

    tenant: str
    user: str
    assistant: str = "-"

    @property
    def scope(self) -> str:
        """What listings are limited to."""
        return scope_of(self.tenant, self.user)

    @property
    def key(self) -> str:
        """The key of its row."""
        return SessionKey(self.tenant, self.user, self.assistant, "").path

    @staticmethod
    def parse(key: str) -> "Whose":
        """The inverse of `key`."""
        session = SessionKey.parse(key)
        return Whose(session.tenant, session.user, session.assistant)


class Memories:
    """Reads and changes them: a change and its audit become durable together, and changes of one follow each other."""

    def __init__(self, index: Index, clock: Clock, limits: Limits) -> None:
        self._index = index
        self._clock = clock
        self._limits = limits
        self._changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read(self, whose: Whose) -> Files:
        """The files of a memory, by path."""
        row = await self._index.get(MEMORY, whose.key)
        return {} if row is None else _decode(row.data)

    async def change(self, whose: Whose, edit: Callable[[Files, int], Done], audit: AuditRow) -> Done:
        """Edit the files as they are at this moment (ms); what does not change them leaves no trace.

        Raises:
            InvalidRequest: they would be too much.
        """
        async with self._changing.setdefault(whose.key, asyncio.Lock()):
            now = self._clock.now()
            files = await self.read(whose)
            done = edit(files, now)
            if done.files != files:
                check_limits(done.files, self._limits)
                row = Put(MEMORY, whose.key, "", whose.scope, now, _encode(done.files))
                kept = row if done.files else Drop(MEMORY, whose.key)
                await self._index.put([kept, Put(AUDIT, new_id("audit"), "", whose.scope, now, _encode(audit))])
            return done

    async def page(self, scope: str, before: tuple[int, str] | None, limit: int) -> list[tuple[Put, Files]]:
        """The rows of a user's memories with what is in them, newest first."""
        rows = await self._index.find(MEMORY, scope, before=before, limit=limit)
        return [(row, _decode(row.data)) for row in rows]
