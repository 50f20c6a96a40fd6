"""The writer of one session: entries change the state at once and become durable in batches, in order."""

import asyncio
from collections.abc import Callable, Sequence

from talaria.core.ids import SessionKey
from talaria.journal.codec import blob_ref, decode_entry, encode_entry
from talaria.journal.entries import AnyEntry, Oversize
from talaria.journal.fold import apply
from talaria.journal.index import index
from talaria.journal.state import SessionState
from talaria.ports.blobs import Blobs
from talaria.ports.journal import Batch, IndexRow, Journal, Record

PAGE = 5_000

Publish = Callable[[Sequence[tuple[int, AnyEntry]]], None]
"""Called with (seq, entry) of what has just become durable, in order."""


class SessionWriter:
    """The only one who appends to a session, as long as it holds the lease of `epoch`.

    `record` never waits. `flush` returns once everything recorded before it is durable (and published).
    Whatever is recorded between two appends leaves in one. After a failed append the writer is broken: the state
    holds what the journal does not, so it must be thrown away.
    """

    def __init__(self, journal: Journal, state: SessionState, epoch: int, publish: Publish) -> None:
        self.state = state
        self.epoch = epoch
        self._journal = journal
        self._publish = publish
        self._durable = state.seq
        self._pending: list[AnyEntry] = []
        self._rows: dict[tuple[str, str], IndexRow] = {}
        self._consumed: list[str] = []
        self._blobs: list[tuple[str, bytes]] = []
        self._appending: asyncio.Task[None] | None = None
        self._broken: BaseException | None = None

    def record(self, *entries: AnyEntry, consumed: Sequence[str] = ()) -> None:
        """Add entries; letters whose keys are in `consumed` stop being pending with the same append."""
        if self._broken is not None:
            raise self._broken
        for entry in entries:
            apply(self.state, entry)
            self._pending.append(entry)
            for row in index(self.state, entry):
                self._rows[row.kind, row.key] = row
        self._consumed.extend(consumed)

    def keep(self, data: bytes) -> str:
        """Keep a large payload beside the next entries; return its reference."""
        ref = blob_ref(data)
        self._blobs.append((ref, data))
        return ref

    async def flush(self) -> None:
        """Wait until all that was recorded is durable.

        Raises:
            JournalError: it will never be.
        """
        target = self.state.seq
        while self._durable < target or self._consumed:
            if self._broken is not None:
                raise self._broken
            if self._appending is None:
                self._appending = asyncio.create_task(self._append(), name="append")
            await asyncio.shield(self._appending)

    async def close(self) -> None:
        """Wait for an append under way, so that nothing of this writer is written later."""
        if self._appending is not None:
            await asyncio.wait([self._appending])

    async def _append(self) -> None:
        entries, self._pending = self._pending, []
        rows, self._rows = tuple(self._rows.values()), {}
        consumed, self._consumed = tuple(self._consumed), []
        blobs, self._blobs = self._blobs, []
        encoded: list[bytes] = []
        for entry in entries:
            data, blob = encode_entry(entry)
            encoded.append(data)
            if blob is not None:
                blobs.append(blob)
        first = self._durable
        path = self.state.key.path
        try:
            await self._journal.append(
                Batch(path, self.epoch, first, tuple(encoded), rows, consumed, tuple(blobs)),
            )
        except BaseException as error:
            self._broken = error
            raise
        finally:
            self._appending = None
        self._durable = first + len(entries)
        self._publish([(first + at, entry) for at, entry in enumerate(entries, 1)])


async def load_state(journal: Journal, blobs: Blobs, key: SessionKey) -> SessionState:
    """Fold a session's whole journal; an unknown session gives the empty state."""
    state = SessionState(key)
    while records := await journal.read(key.path, state.seq, PAGE):
        for record in records:
            apply(state, await load_entry(blobs, key.path, record))
        if len(records) < PAGE:
            break
    return state


async def load_entry(blobs: Blobs, session: str, record: Record) -> AnyEntry:
    """Return a record's entry, fetched from its blob if it is kept there."""
    entry = decode_entry(record.data)
    if isinstance(entry, Oversize):
        entry = decode_entry(await blobs.get(session, entry.ref))
    assert not isinstance(entry, Oversize)
    return entry
