"""The journal in memory: a list of records a session."""

from asyncio import Future, get_running_loop
from collections.abc import AsyncIterator

from talaria.core.errors import JournalError, NotFound, SeqConflict, StaleOwner
from talaria.ports.journal import Batch, Record
from talaria.stores.leases import LocalLeases
from talaria.stores.memory.inbox import MemoryInbox
from talaria.stores.memory.index import MemoryIndex
from talaria.stores.memory.state import Book, MemoryState, is_within
from talaria.stores.signals import Listeners


class MemoryJournal:
    """See ports.journal.Journal. Nothing here suspends, so every append is atomic as it stands."""

    def __init__(self, state: MemoryState, index: MemoryIndex, inbox: MemoryInbox, leases: LocalLeases) -> None:
        self._state = state
        self._index = index
        self._inbox = inbox
        self._leases = leases
        self._listeners = Listeners()

    def append(self, batch: Batch) -> "Future[int]":
        """See the port."""
        future: Future[int] = get_running_loop().create_future()
        try:
            future.set_result(self._append(batch))
        except JournalError as error:
            future.set_exception(error)
        return future

    def _append(self, batch: Batch) -> int:
        self._state.check()
        self._leases.check(batch)
        session = batch.session
        book = self._state.books.get(session)
        if book is None:
            book = Book()
        _check_head(batch, book)
        self._state.books[session] = book
        book.epoch = batch.epoch
        seq = len(book.records)
        for data in batch.entries:
            seq += 1
            book.records.append(Record(seq, data))
        if batch.index:
            self._index.write(batch.index)
        if batch.consumed:
            self._inbox.consume(batch.consumed)
        if batch.blobs:
            book.blobs.update(batch.blobs)
        self._listeners.wake(session)
        return seq

    async def read(self, session: str, after: int = 0, limit: int = 10_000) -> list[Record]:
        """See the port."""
        self._state.check()
        book = self._state.books.get(session)
        return book.records[after : after + limit] if book is not None else []

    async def tail(self, session: str, after: int = 0) -> AsyncIterator[Record]:
        """See the port."""
        with self._listeners.listen(session) as event:
            while True:
                event.clear()
                for record in await self.read(session, after):
                    after = record.seq
                    event.set()
                    yield record
                await event.wait()

    async def sessions(self, after: str = "", limit: int = 1_000) -> list[str]:
        """See the port."""
        self._state.check()
        paths = (path for path, book in self._state.books.items() if path > after and book.records)
        return sorted(paths)[:limit]

    async def delete(self, session: str) -> None:
        """See the port."""
        self._state.check()
        for path in [path for path in self._state.books if is_within(path, session)]:
            del self._state.books[path]
        self._index.forget(session, below=True)
        self._inbox.forget(session)

    def close(self) -> None:
        """Let every reader of a tail see that the store is closed."""
        self._listeners.wake_all()


class MemoryBlobs:
    """See ports.blobs.Blobs."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state

    async def get(self, session: str, ref: str) -> bytes:
        """See the port."""
        self._state.check()
        book = self._state.books.get(session)
        if book is None or ref not in book.blobs:
            raise NotFound(f"{session} has no blob {ref!r}")
        return book.blobs[ref]


def _check_head(batch: Batch, book: Book) -> None:
    if batch.epoch < book.epoch:
        raise StaleOwner(f"{batch.session}: epoch {batch.epoch} is over, the newest is {book.epoch}")
    if batch.expected_seq != len(book.records):
        raise SeqConflict(f"{batch.session}: the last seq is {len(book.records)}, not {batch.expected_seq}")
