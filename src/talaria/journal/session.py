"""The writer of one session: entries change the state at once and become durable in batches, in order."""

import asyncio
from collections.abc import Callable, Sequence

from talaria.core.errors import JournalError, NotFound
from talaria.core.ids import SessionKey
from talaria.journal.codec import blob_ref, decode_entry, encode_entry
from talaria.journal.entries import AnyEntry, Oversize, RunFinished
from talaria.journal.fold import apply
from talaria.journal.index import index
from talaria.journal.state import SessionState
from talaria.ports.blobs import Blobs
from talaria.ports.journal import Batch, IndexRow, Journal, Record

PAGE = 5_000
SOON = 0.001
"""Seconds for which what nobody waits for may wait for company: one append, and one sync, for all of it."""

Publish = Callable[[Sequence[tuple[int, AnyEntry]]], None]
"""Called with (seq, entry) of what has just become durable, in order."""


class _Gathered:
    """What was recorded since the last append began."""

    __slots__ = ("blobs", "consumed", "encoded", "entries", "rows")

    def __init__(self) -> None:
        self.entries: list[AnyEntry] = []
        self.encoded: list[bytes] = []
        self.rows: dict[tuple[str, str], IndexRow] = {}
        self.consumed: tuple[str, ...] = ()
        self.blobs: tuple[tuple[str, bytes], ...] = ()


class SessionWriter:
    """The only one who appends to a session, as long as it holds the lease of `epoch`.

    `record` never waits. `flush` returns once everything recorded before it is durable (and published).
    What is recorded while an append is under way leaves together in the next. After a failed append the writer is
    broken: the state holds what the journal does not, so it must be thrown away. `attempts` counts the model calls of
    this epoch: no two messages of a session have the same (epoch, attempt).
    """

    def __init__(self, journal: Journal, state: SessionState, epoch: int, publish: Publish) -> None:
        self.state = state
        self.epoch = epoch
        self.attempts = 0
        self._journal = journal
        self._publish = publish
        self._durable = state.seq
        self._gathered: _Gathered | None = None
        self._recorded = self._settled = 0  # calls of record, and those of them whose entries are durable
        self._pushed = 0
        self._appending: asyncio.Future[int] | None = None
        self._soon: asyncio.TimerHandle | None = None
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._broken: Exception | None = None

    def record(self, *entries: AnyEntry, consumed: Sequence[str] = ()) -> None:
        """Add entries; letters whose keys are in `consumed` stop being pending with the same append."""
        if self._broken is not None:
            raise self._broken
        encoded = [encode_entry(entry) for entry in entries]  # first: what cannot be written has not happened
        self._recorded += 1
        gathered = self._gather()
        gathered.entries += entries
        for entry, (data, blob) in zip(entries, encoded, strict=True):
            apply(self.state, entry)
            gathered.encoded.append(data)
            if blob is not None:
                gathered.blobs += (blob,)
            for row in index(self.state, entry):
                gathered.rows[row.kind, row.key] = row
        gathered.consumed += tuple(consumed)

    def keep(self, data: bytes) -> str:
        """Keep a large payload beside the next entries; return its reference."""
        ref = blob_ref(data)
        self._gather().blobs += ((ref, data),)
        return ref

    def _gather(self) -> _Gathered:
        if self._gathered is None:
            self._gathered = _Gathered()
        return self._gathered

    def push(self) -> None:
        """Have all that was recorded made durable, without waiting for it."""
        self._pushed = self._recorded
        self._append()

    def push_soon(self) -> None:
        """Have all that was recorded made durable within `SOON`, without waiting for it."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON, self.push)

    async def flush(self) -> None:
        """Wait until all that was recorded is durable.

        Raises:
            JournalError: it will never be.
        """
        target = self._recorded
        self._append()
        if self._settled < target and self._broken is None:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append((target, waiter))
            await waiter
        if self._broken is not None:
            raise self._broken

    async def close(self) -> None:
        """Make what was recorded durable, so that nothing of this writer is written later."""
        if self._soon is not None:
            self.push()
        while self._appending is not None:
            await asyncio.wait([self._appending])

    def _append(self) -> None:
        """Begin an append of what is pending, unless one is under way."""
        if self._appending is not None or self._settled == self._recorded or self._broken is not None:
            return
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        gathered, self._gathered = self._gather(), None
        entries = gathered.entries
        future = self._journal.append(self._batch(gathered))
        mark = self._recorded
        if future.done():  # a store without waiting
            self._appended(future, entries, mark)
        else:
            self._appending = future
            future.add_done_callback(lambda done: self._appended(done, entries, mark))

    def _batch(self, gathered: _Gathered) -> Batch:
        return Batch(
            self.state.path,
            self.epoch,
            self._durable,
            tuple(gathered.encoded),
            tuple(gathered.rows.values()),
            gathered.consumed,
            gathered.blobs,
        )

    def _appended(self, future: "asyncio.Future[int]", entries: list[AnyEntry], mark: int) -> None:
        self._appending = None
        error = JournalError("the append was cancelled") if future.cancelled() else future.exception()
        if error is not None:
            self._broken = error if isinstance(error, Exception) else JournalError(str(error))
        else:
            first, self._settled = self._durable, mark
            self._durable += len(entries)
            self._tell([(first + at, entry) for at, entry in enumerate(entries, 1)])
        waiters, self._waiters = self._waiters, []
        for target, waiter in waiters:
            if waiter.done():
                continue
            if target <= self._settled or self._broken is not None:
                waiter.set_result(None)
            else:
                self._waiters.append((target, waiter))
        if self._waiters or self._settled < self._pushed:
            self._append()

    def _tell(self, placed: list[tuple[int, AnyEntry]]) -> None:
        try:
            self._publish(placed)
        except Exception as error:  # noqa: BLE001 - what watches entries must not stop the journal
            self._broken = error  # whoever waits must not wait for ever; the session is read again


async def load_state(journal: Journal, blobs: Blobs, key: SessionKey, *, until: str = "") -> SessionState:
    """Fold a session's journal, whole or to the end of the run `until`; an unknown session gives the empty state."""
    state = SessionState(key)
    while records := await journal.read(state.path, state.seq, PAGE):
        for record in records:
            entry = await load_entry(blobs, state.path, record)
            apply(state, entry)
            if isinstance(entry, RunFinished) and entry.run == until:
                return state
        if len(records) < PAGE:
            break
    return state


async def load_entry(blobs: Blobs, session: str, record: Record) -> AnyEntry:
    """Return a record's entry, fetched from its blob if it is kept there."""
    entry = decode_entry(record.data)
    if isinstance(entry, Oversize):
        try:
            entry = decode_entry(await blobs.get(session, entry.ref))
        except NotFound as error:
            raise JournalError(f"entry {record.seq} names a blob that is not there", operator=session) from error
    assert not isinstance(entry, Oversize)
    return entry
