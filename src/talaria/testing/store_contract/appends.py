"""Appends: all or nothing, in order, by the owner only."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

import asyncio

import msgspec
import pytest

from talaria.core.errors import NotFound, SeqConflict, StaleOwner, StoreClosed
from talaria.ports.journal import Batch, Drop
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SECONDS, SESSION, Opening, batch, letter, row, texts


class AppendContract(Opening):
    """`Journal.append` and `Leases`."""

    async def test_an_append_returns_the_new_last_seq(self, store: Store) -> None:
        assert await store.journal.append(batch("a")) == 1
        assert await store.journal.append(batch("b", "c", at=1)) == 3
        assert texts(await store.journal.read(SESSION)) == ["a", "b", "c"]

    async def test_an_append_writes_entries_index_letters_and_blobs_together(self, store: Store) -> None:
        await store.inbox.put(letter("k"))
        await store.journal.append(Batch(SESSION, 1, 0, (b"a",), (row("r"),), ("k",), (("ref", b"blob"),)))
        assert texts(await store.journal.read(SESSION)) == ["a"]
        assert await store.index.get("run", "r") == row("r")
        assert await store.inbox.pending(SESSION) == []
        assert await store.blobs.get(SESSION, "ref") == b"blob"

    @pytest.mark.parametrize("wrong", [{"expected_seq": 0}, {"expected_seq": 2}, {"epoch": 4}])
    async def test_a_refused_append_writes_nothing_at_all(self, store: Store, wrong: dict[str, int]) -> None:
        await store.journal.append(batch("a", epoch=5))
        await store.inbox.put(letter("k"))
        refused = Batch(SESSION, 5, 1, (b"b",), (row("r"),), ("k",), (("ref", b"blob"),))
        with pytest.raises((SeqConflict, StaleOwner)):
            await store.journal.append(msgspec.structs.replace(refused, **wrong))
        assert texts(await store.journal.read(SESSION)) == ["a"]
        assert await store.index.get("run", "r") is None
        assert await store.inbox.pending(SESSION) == [letter("k")]
        with pytest.raises(NotFound):
            await store.blobs.get(SESSION, "ref")

    async def test_an_append_without_entries_leaves_the_seq(self, store: Store) -> None:
        await store.journal.append(batch("a"))
        assert await store.journal.append(Batch(SESSION, 1, 1, (), (row("r"),))) == 1
        assert await store.index.get("run", "r") == row("r")
        assert await store.journal.append(batch("b", at=1)) == 2

    async def test_of_two_appends_at_one_seq_one_is_refused(self, store: Store) -> None:
        results = await asyncio.gather(
            store.journal.append(batch("first")), store.journal.append(batch("second")), return_exceptions=True
        )
        assert results[0] == 1
        assert isinstance(results[1], SeqConflict)
        assert texts(await store.journal.read(SESSION)) == ["first"]

    async def test_appends_of_one_session_are_applied_in_call_order(self, store: Store) -> None:
        async with asyncio.timeout(SECONDS):
            seqs = await asyncio.gather(*(store.journal.append(batch(str(n), at=n)) for n in range(100)))
        assert seqs == list(range(1, 101))
        assert texts(await store.journal.read(SESSION)) == [str(n) for n in range(100)]

    async def test_appends_are_queued_at_the_call_and_refusals_come_through_the_future(self, store: Store) -> None:
        first, refused, second = (store.journal.append(batch("x", at=at)) for at in (0, 5, 1))
        assert await second == 2
        assert await first == 1
        with pytest.raises(SeqConflict):
            await refused
        await store.close()
        closed = store.journal.append(batch("x", at=2))
        with pytest.raises(StoreClosed):
            await closed

    async def test_a_refused_append_does_not_hurt_those_beside_it(self, store: Store) -> None:
        appends = [store.journal.append(batch("x", session=f"s{n}", at=n % 2)) for n in range(40)]
        async with asyncio.timeout(SECONDS):
            results = await asyncio.gather(*appends, return_exceptions=True)
        assert list(results[::2]) == [1] * 20
        assert all(isinstance(result, SeqConflict) for result in results[1::2])
        assert len(await store.journal.sessions()) == 20

    async def test_two_hundred_sessions_append_at_once(self, store: Store) -> None:
        async def one(session: str) -> None:
            for n in range(5):
                await store.journal.append(batch(f"{session}-{n}", at=n, session=session))

        names = [f"s{n:03}" for n in range(200)]
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*(one(name) for name in names))
        assert await store.journal.sessions() == names
        for name in names:
            assert texts(await store.journal.read(name)) == [f"{name}-{n}" for n in range(5)]

    async def test_a_cancelled_append_is_whole_or_absent_and_the_next_one_works(self, store: Store) -> None:
        future = store.journal.append(Batch(SESSION, 1, 0, (b"a", b"b"), (row("r"),)))
        await asyncio.wait([future], timeout=0)
        future.cancel()
        await store.journal.append(batch("after", session="other"))
        written = await store.journal.read(SESSION)
        assert len(written) in (0, 2)
        assert (await store.index.get("run", "r") is not None) == bool(written)
        assert await store.journal.append(batch("c", at=len(written))) == len(written) + 1

    async def test_the_append_of_an_older_epoch_is_stale(self, store: Store) -> None:
        await store.journal.append(batch("a", epoch=7))
        with pytest.raises(StaleOwner):
            await store.journal.append(batch("b", at=1, epoch=6))
        assert await store.journal.append(batch("c", at=1, epoch=8)) == 2
        with pytest.raises(StaleOwner):
            await store.journal.append(batch("d", at=2, epoch=7))

    async def test_an_append_may_overwrite_and_drop_rows_in_order(self, store: Store) -> None:
        rows = (row("a", 1), row("b", 1), row("a", 2), Drop("run", "b"), Drop("run", "none"), row("c", 3))
        await store.journal.append(Batch(SESSION, 1, 0, (b"x",), (*rows, Drop("run", "c"), row("c", 4))))
        assert await store.index.find("run") == [row("c", 4), row("a", 2)]

    async def test_of_two_handles_the_one_behind_gets_a_conflict_and_may_go_on_from_the_truth(
        self, store: Store
    ) -> None:
        for n in range(4):
            await store.journal.append(batch(f"m{n}", at=n))
        await store.journal.append(batch("by the second", at=4))
        with pytest.raises(SeqConflict):
            await store.journal.append(batch("by the first", at=4))
        last = (await store.journal.read(SESSION))[-1].seq
        assert await store.journal.append(batch("by the first", at=last)) == 6
