"""The writer of a session: what is recorded changes the state at once, and leaves in order, in batches."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from talaria.core.errors import JournalError, SeqConflict, StaleOwner
from talaria.core.messages import Text, UserMessage
from talaria.journal.entries import AnyEntry, RunFinished, RunParked, TurnStarted
from talaria.journal.session import SOON, SessionWriter, load_state
from talaria.journal.state import SessionState
from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch, Journal, Record
from talaria.ports.store import Store
from tests.journal.entries import FULL, KEY, picture


class HeldJournal:
    """A journal whose appends are let go one by one."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.batches: list[Batch] = []
        self.held: list[asyncio.Future[int]] = []

    def append(self, batch: Batch) -> "asyncio.Future[int]":
        self.batches.append(batch)
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.held.append(future)
        return future

    async def let_go(self, error: Exception | None = None) -> None:
        future = self.held.pop(0)
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(await self._journal.append(self.batches[len(self.batches) - len(self.held) - 1]))
        await asyncio.sleep(0)

    async def read(self, session: str, after: int = 0, limit: int = 10_000) -> list[Record]:
        return await self._journal.read(session, after, limit)

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)


Told = list[tuple[int, str]]


def writer_of(journal: object, told: Told) -> SessionWriter:
    def publish(placed: Sequence[tuple[int, AnyEntry]]) -> None:
        told.extend((seq, type(entry).__name__) for seq, entry in placed)

    return SessionWriter(journal, SessionState(KEY), 1, publish)  # pyright: ignore[reportArgumentType]


def turn(run: str = "run_1") -> TurnStarted:
    return TurnStarted(run=run, at=1, agent="a", model="m", message=UserMessage((Text("hi"),)))


async def test_what_is_read_back_is_the_state_that_was_recorded(store: Store) -> None:
    told: Told = []
    writer = writer_of(store.journal, told)
    for entry in FULL:
        writer.record(entry)
        await writer.flush()
    assert [seq for seq, _ in told] == list(range(1, len(FULL) + 1))
    assert picture(await load_state(store.journal, store.blobs, KEY)) == picture(writer.state)


async def test_what_is_recorded_during_an_append_leaves_together_in_the_next(store: Store) -> None:
    held, told = HeldJournal(store.journal), list[tuple[int, str]]()
    writer = writer_of(held, told)
    writer.record(turn())
    first = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    flushes: list[asyncio.Task[None]] = []
    for until in (1, 2, 3):
        writer.record(RunParked(run="run_1", at=2, until=until))
        flushes.append(asyncio.create_task(writer.flush()))
    await asyncio.sleep(0)
    assert len(held.batches) == 1
    assert told == []
    await held.let_go()
    await first
    assert not any(flush.done() for flush in flushes)
    assert [len(batch.entries) for batch in held.batches] == [1, 3]
    await held.let_go()
    await asyncio.gather(*flushes)
    assert [seq for seq, _ in told] == [1, 2, 3, 4]
    await writer.close()


async def test_what_nobody_waits_for_leaves_with_what_somebody_does(store: Store) -> None:
    held = HeldJournal(store.journal)
    writer = writer_of(held, [])
    writer.record(turn())
    writer.push_soon()
    assert held.batches == []
    writer.record(RunParked(run="run_1", at=2, until=5))
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    await held.let_go()
    await flushing
    await asyncio.sleep(3 * SOON)
    assert [len(batch.entries) for batch in held.batches] == [2]


async def test_what_nobody_waits_for_leaves_by_itself_in_a_moment(store: Store) -> None:
    told, durable = list[int](), asyncio.Event()

    def publish(placed: Sequence[tuple[int, AnyEntry]]) -> None:
        told.extend(seq for seq, _ in placed)
        durable.set()

    writer = SessionWriter(store.journal, SessionState(KEY), 1, publish)
    writer.record(turn())
    writer.push_soon()
    writer.push_soon()
    async with asyncio.timeout(5):
        await durable.wait()
    writer.record(RunParked(run="run_1", at=2, until=5))
    writer.push_soon()
    await writer.close()
    assert told == [1, 2]


async def test_one_batch_has_the_last_row_of_each_key(store: Store) -> None:
    held = HeldJournal(store.journal)
    writer = writer_of(held, [])
    writer.record(turn(), RunParked(run="run_1", at=2, until=5), RunFinished(run="run_1", at=3, reason="stop"))
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    rows = {(row.kind, type(row).__name__) for row in held.batches[0].index}
    assert rows == {("session", "Put"), ("run", "Put"), ("wake", "Drop"), ("usage", "Put")}
    await held.let_go()
    await flushing


async def test_after_a_failed_append_nothing_more_is_taken(store: Store) -> None:
    held, told = HeldJournal(store.journal), list[tuple[int, str]]()
    writer = writer_of(held, told)
    writer.record(turn())
    first = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    writer.record(RunParked(run="run_1", at=2, until=5))
    second = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    await held.let_go(SeqConflict("somebody was here"))
    for flush in (first, second):
        with pytest.raises(SeqConflict):
            await flush
    with pytest.raises(SeqConflict):
        writer.record(RunFinished(run="run_1", at=3, reason="stop"))
    with pytest.raises(SeqConflict):
        await writer.flush()
    assert (len(held.batches), told) == (1, [])
    await writer.close()


async def test_whoever_is_cancelled_while_waiting_leaves_the_append_alone(store: Store) -> None:
    held, told = HeldJournal(store.journal), list[tuple[int, str]]()
    writer = writer_of(held, told)
    writer.record(turn())
    gone = asyncio.create_task(writer.flush())
    stays = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])
    writer.record(RunParked(run="run_1", at=2, until=5))
    await held.let_go()
    await stays
    later = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    await held.let_go()
    await later
    assert [name for _, name in told] == ["TurnStarted", "RunParked"]


async def test_closing_waits_for_the_append_under_way(store: Store) -> None:
    held = HeldJournal(store.journal)
    writer = writer_of(held, [])
    writer.record(turn())
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    assert not closing.done()
    await held.let_go()
    await asyncio.gather(closing, flushing)


async def test_what_is_pushed_follows_by_itself_and_closing_waits_for_it(store: Store) -> None:
    held, told = HeldJournal(store.journal), list[tuple[int, str]]()
    writer = writer_of(held, told)
    writer.record(turn())
    writer.push()
    writer.record(RunParked(run="run_1", at=2, until=5))
    writer.push()
    assert len(held.batches) == 1
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    await held.let_go()
    assert len(held.batches) == 2
    assert not closing.done()
    await held.let_go()
    await closing
    assert [name for _, name in told] == ["TurnStarted", "RunParked"]


async def test_letters_are_answered_with_the_entries_or_by_themselves(store: Store) -> None:
    writer = writer_of(store.journal, [])
    for key in ("a", "b"):
        await store.inbox.put(Letter(KEY.path, key, "cancel", "r", 1, b"{}"))
    writer.record(turn(), consumed=["a"])
    assert len(await store.inbox.pending(KEY.path)) == 2
    await writer.flush()
    assert [letter.key for letter in await store.inbox.pending(KEY.path)] == ["b"]
    writer.record(consumed=["b"])
    await writer.flush()
    assert await store.inbox.pending(KEY.path) == []
    assert len(await store.journal.read(KEY.path)) == 1


async def test_a_stale_owner_writes_nothing(store: Store) -> None:
    old, new = (SessionWriter(store.journal, SessionState(KEY), epoch, lambda _: None) for epoch in (1, 2))
    new.record(turn())
    await new.flush()
    old.record(turn("other"))
    with pytest.raises(JournalError) as refused:
        await old.flush()
    assert isinstance(refused.value, StaleOwner | SeqConflict)
    assert len(await store.journal.read(KEY.path)) == 1


async def test_an_entry_that_cannot_be_written_changes_nothing(store: Store) -> None:
    writer = writer_of(store.journal, [])
    writer.record(turn())
    before = picture(writer.state)
    with pytest.raises((ValueError, TypeError, msgspec.MsgspecError)):
        writer.record(RunFinished(run="run_1", at=2, reason="error", message="lone \ud800"))
    assert picture(writer.state) == before
    await writer.flush()
    assert picture(await load_state(store.journal, store.blobs, KEY)) == before


async def test_a_watcher_that_fails_breaks_the_writer_and_not_those_who_wait(store: Store) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("no")

    writer = SessionWriter(store.journal, SessionState(KEY), 1, broken)
    writer.record(turn())
    with pytest.raises(RuntimeError):
        await writer.flush()


async def test_a_payload_is_kept_beside_the_entry_that_names_it(store: Store) -> None:
    writer = writer_of(store.journal, [])
    ref = writer.keep(b"large")
    writer.record(turn())
    await writer.flush()
    assert await store.blobs.get(KEY.path, ref) == b"large"
