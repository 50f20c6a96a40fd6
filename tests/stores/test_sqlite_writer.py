"""The writer of the SQLite store: group commit, one bad operation among good ones, full disks, busy files."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from talaria.core.errors import JournalError, StoreClosed
from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch, Put
from talaria.stores.sqlite.files import Files
from talaria.stores.sqlite.store import SqliteStore
from tests.stores.processes import SECONDS, child


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "talaria.db"


@pytest.fixture
async def files(database: Path) -> Files:
    return await asyncio.to_thread(Files, str(database), owner=True)


@pytest.fixture
async def store(files: Files) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(files)
    yield store
    await store.close()


def batch(session: str, at: int = 0, size: int = 10, index: tuple[Put, ...] = ()) -> Batch:
    return Batch(session, 1, at, (b"x" * size,), index)


@contextmanager
def locked(files: Files) -> Generator[Callable[[], object]]:
    """Another program has the file locked, until the call or the end of the block."""
    with closing(sqlite3.connect(files.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other.rollback


async def append_until_refused(store: SqliteStore) -> int:
    """The last seq that was acknowledged."""
    seq = 0
    while True:
        try:
            seq = await store.journal.append(batch("s", seq, 20_000))
        except StoreClosed as error:
            assert "full" in error.message  # noqa: PT017 - which append it will be is not known
            return seq


async def test_appends_of_many_sessions_share_commits(store: SqliteStore) -> None:
    before = store.commits.seconds.count
    async with asyncio.timeout(SECONDS):
        for n in range(5):
            await asyncio.gather(*(store.journal.append(batch(f"s{k}", n)) for k in range(100)))
    assert store.commits.seconds.count - before <= 50


async def test_a_commit_is_synced_to_the_disk(store: SqliteStore, files: Files) -> None:
    assert files.writer.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
    assert files.writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_appends_and_reads_get_through_while_the_event_loop_is_never_idle(store: SqliteStore) -> None:
    async def spin() -> None:
        while True:
            until = time.perf_counter() + 0.000_2
            while time.perf_counter() < until:
                pass
            await asyncio.sleep(0)

    spinning = asyncio.create_task(spin())
    async with asyncio.timeout(SECONDS / 4):
        for n in range(20):
            await store.journal.append(batch("s", n))
            assert len(await store.journal.read("s", n)) == 1
    spinning.cancel()


async def test_an_operation_that_cannot_be_stored_fails_alone(store: SqliteStore) -> None:
    bad = Put("run", "\ud800", "s", "t/u", 1)
    appends = [batch(f"s{n}", index=(bad,) if n == 7 else (Put("run", f"r{n}", f"s{n}", "t/u", n),)) for n in range(20)]
    async with asyncio.timeout(SECONDS):
        results = await asyncio.gather(*(store.journal.append(one) for one in appends), return_exceptions=True)
    assert [type(result) for result in results] == [int] * 7 + [JournalError] + [int] * 12
    assert len(await store.journal.sessions()) == 19
    assert await store.journal.read("s7") == []
    assert len(await store.index.find("run")) == 19
    assert await store.journal.append(batch("s7")) == 1


async def test_operations_within_one_commit_see_each_other_in_order(store: SqliteStore, files: Files) -> None:
    letter = Letter("s", "k", "turn", "r", 1, b"{}")
    newer = Letter("s", "k", "turn", "r2", 2, b"{}")
    operations = (
        lambda: store.inbox.put(letter),
        lambda: store.journal.append(Batch("s", 1, 0, (b"x",), consumed=("k",))),
        lambda: store.inbox.put(newer, replace_before=2),
        lambda: store.index.replace("s", [Put("run", "r", "s", "t/u", 1)]),
        lambda: store.journal.append(batch("s", 1, index=(Put("run", "r", "s", "t/u", 2),))),
    )
    before = store.commits.seconds.count
    with locked(files) as unlock:
        first = store.journal.append(batch("keeps the writer waiting"))
        futures: list[asyncio.Future[Any]] = []
        for operation in operations:
            futures.append(asyncio.ensure_future(operation()))
            await asyncio.wait(futures, timeout=0)
        unlock()
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(first, *futures)
    assert store.commits.seconds.count - before <= 2
    assert await store.inbox.pending("s") == [newer]
    assert await store.index.find("run") == [Put("run", "r", "s", "t/u", 2)]


async def test_when_the_disk_is_full_everything_gets_store_closed_and_reopening_recovers(
    store: SqliteStore, files: Files
) -> None:
    files.writer.execute("PRAGMA max_page_count = 60")
    written = await append_until_refused(store)
    async with asyncio.timeout(SECONDS):
        appends = [store.journal.append(batch(f"s{n}")) for n in range(50)]
        results: list[Any] = await asyncio.gather(*appends, return_exceptions=True)
        for call in (store.inbox.put(Letter("s", "k", "turn", "r", 1, b"")), store.check()):
            with pytest.raises(StoreClosed):
                await call
    assert {type(result) for result in results} == {StoreClosed}
    assert len(await store.journal.read("s")) == written
    await store.close()
    again = await SqliteStore.open(files.path)
    assert len(await again.journal.read("s")) == written
    assert await again.journal.append(batch("s", written, 20_000)) == written + 1
    await again.close()


async def test_what_was_acknowledged_before_a_write_failed_is_kept(database: Path) -> None:
    async with child("fill", database) as process:
        *appended, error, readable = await process.rest()
    assert error == "StoreClosed"
    assert readable == "readable True"
    store = await SqliteStore.open(str(database))
    records = await store.journal.read("s")
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert len(records) >= len(appended) > 5
    assert await store.journal.append(batch("s", len(records))) == len(records) + 1
    await store.close()


async def test_a_file_that_is_locked_for_a_while_is_waited_for(store: SqliteStore, files: Files) -> None:
    files.writer.execute("PRAGMA busy_timeout = 20")
    with locked(files) as unlock:
        append = store.journal.append(batch("s"))
        await asyncio.wait([append], timeout=0.06)
        assert not append.done()
        assert await store.journal.read("s") == []
        unlock()
        async with asyncio.timeout(SECONDS):
            assert await append == 1


async def test_a_file_that_stays_locked_is_an_error_but_not_the_end(store: SqliteStore, files: Files) -> None:
    files.writer.execute("PRAGMA busy_timeout = 1")
    with locked(files):
        async with asyncio.timeout(SECONDS):
            with pytest.raises(JournalError, match="locked") as refused:
                await store.journal.append(batch("s"))
    assert not isinstance(refused.value, StoreClosed)
    assert await store.journal.append(batch("s")) == 1


async def test_a_read_that_fails_is_an_error_but_not_the_end(store: SqliteStore, files: Files) -> None:
    await store.journal.append(batch("s"))
    files.writer.execute("ALTER TABLE entry RENAME TO elsewhere")
    with pytest.raises(JournalError, match="cannot be read now") as refused:
        await store.journal.read("s")
    assert not isinstance(refused.value, StoreClosed)
    files.writer.execute("ALTER TABLE elsewhere RENAME TO entry")
    assert len(await store.journal.read("s")) == 1
    await store.close()
    with pytest.raises(StoreClosed):
        await store.journal.read("s")


async def test_cancelled_callers_do_not_disturb_the_writer(store: SqliteStore) -> None:
    tasks = [store.journal.append(batch(f"s{n}")) for n in range(60)]
    await asyncio.wait(tasks, timeout=0)
    for task in tasks[::2]:
        task.cancel()
    async with asyncio.timeout(SECONDS):
        results = await asyncio.gather(*tasks[1::2])
    assert results == [1] * 30
    assert len(await store.journal.sessions()) >= 30


async def test_a_tail_hears_of_an_append_whose_caller_was_cancelled(store: SqliteStore) -> None:
    tail = store.journal.tail("s")
    coming = asyncio.ensure_future(anext(tail))
    await asyncio.wait([coming], timeout=0.05)
    task = store.journal.append(batch("s"))
    await asyncio.wait([task], timeout=0)
    task.cancel()
    async with asyncio.timeout(SECONDS):
        assert (await coming).seq == 1


async def test_epochs_grow_when_the_counter_of_a_generation_is_used_up(database: Path) -> None:
    epochs: list[int] = []
    for _ in range(3):
        store = SqliteStore(await asyncio.to_thread(Files, str(database), owner=True), epoch_bits=2)
        found = await asyncio.gather(*(store.leases.acquire(f"s{n}") for n in range(5)))
        assert None not in found
        epochs += sorted(epoch for epoch in found if epoch is not None)
        await store.close()
    assert epochs == sorted(set(epochs))
