"""The inbox on SQLite. Letters that other processes put are found by looking twice a second for higher ids."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec

from talaria.ports.inbox import Letter
from talaria.ports.journal import IndexRow
from talaria.stores.signals import Arrivals
from talaria.stores.sqlite.changes import Changes
from talaria.stores.sqlite.journal import POLL_SECONDS, wait
from talaria.stores.sqlite.reader import Reader
from talaria.stores.sqlite.writer import Writer

SELECT = "SELECT session, key, kind, run, at, body FROM letter WHERE "
INSERT = "INSERT INTO letter(session, key, kind, run, at, body) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(key) DO NOTHING"
ARRIVED = "SELECT id, session, consumed FROM letter WHERE id > ? ORDER BY id"
WAITING = "SELECT session FROM letter WHERE consumed = 0 GROUP BY session ORDER BY min(id)"


class Posted(msgspec.Struct, frozen=True, gc=False):
    """What a put did: the letter in force, and its id if it is the new one."""

    letter: Letter
    id: int = 0


class SqliteInbox:
    """See ports.inbox.Inbox. `newest` is the highest id at opening."""

    def __init__(self, writer: Writer, reader: Reader, newest: int) -> None:
        self._writer = writer
        self._reader = reader
        self._newest = newest
        self._told: set[int] = set()
        self._arrivals: Arrivals | None = None

    async def put(self, letter: Letter, *, replace_before: int = 0, index: Sequence[IndexRow] = ()) -> Letter:
        """See the port."""
        posted = await self._writer.run(lambda changes: _put(changes, letter, replace_before, index), self._arrived)
        return posted.letter

    def _arrived(self, posted: Posted) -> None:
        if posted.id <= self._newest:
            return  # not new, or a look has found it already
        if self._arrivals is None:
            self._newest = posted.id
            self._told.clear()
            return
        self._told.add(posted.id)
        self._arrivals.add(posted.letter.session)

    async def get(self, key: str) -> Letter | None:
        """See the port."""
        return _first(await self._letters("key = ?", key))

    async def turn(self, run: str) -> Letter | None:
        """See the port."""
        return _first(await self._letters("run = ? AND kind = 'turn' ORDER BY id LIMIT 1", run))

    async def pending(self, session: str) -> list[Letter]:
        """See the port."""
        return await self._letters("session = ? AND consumed = 0 ORDER BY id", session)

    async def waiting(self) -> list[str]:
        """See the port."""
        return [session for (session,) in await self._reader.rows(WAITING)]

    async def _letters(self, condition: str, value: str) -> list[Letter]:
        return [Letter(*row) for row in await self._reader.rows(SELECT + condition, value)]

    def watch(self) -> AsyncIterator[str]:
        """See the port. Letters count from this call on."""
        self._reader.check()
        self._arrivals = Arrivals()
        return self._watch(self._arrivals)

    async def _watch(self, arrivals: Arrivals) -> AsyncIterator[str]:
        clock = asyncio.get_running_loop().time
        look_at = clock() + POLL_SECONDS
        while True:
            session = arrivals.take()
            if session is not None:
                yield session
            else:
                await wait(arrivals.event, max(0.0, look_at - clock()))
            if clock() >= look_at:
                await self._look(arrivals)
                look_at = clock() + POLL_SECONDS

    async def _look(self, arrivals: Arrivals) -> None:
        for identifier, session, consumed in await self._reader.rows(ARRIVED, self._newest):
            self._newest = identifier
            if not consumed and identifier not in self._told:
                arrivals.add(session)
        self._told = {identifier for identifier in self._told if identifier > self._newest}

    def close(self) -> None:
        """Let the watcher see that the store is closed."""
        if self._arrivals is not None:
            self._arrivals.close()


def _first(letters: list[Letter]) -> Letter | None:
    return letters[0] if letters else None


def _put(changes: Changes, letter: Letter, replace_before: int, index: Sequence[IndexRow]) -> Posted:
    posted = _insert(changes, letter, replace_before)
    if posted.id:
        changes.index(index)
    return posted


def _insert(changes: Changes, letter: Letter, replace_before: int) -> Posted:
    connection = changes.sql()
    values = (letter.session, letter.key, letter.kind, letter.run, letter.at, letter.body)
    cursor = connection.execute(INSERT, values)
    if cursor.rowcount == 1:
        return Posted(letter, cursor.lastrowid or 0)
    select = SELECT.replace("body", "body, consumed", 1) + "key = ?"
    *row, consumed = connection.execute(select, (letter.key,)).fetchone()
    old = Letter(*row)
    if not consumed or old.at >= replace_before:
        return Posted(old)
    connection.execute("DELETE FROM letter WHERE key = ?", (letter.key,))
    return Posted(letter, connection.execute(INSERT, values).lastrowid or 0)
