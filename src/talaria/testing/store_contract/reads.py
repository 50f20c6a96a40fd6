"""Reads, tails, listings and deletion of journals; blobs."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

import asyncio
from collections.abc import AsyncIterator

import pytest

from talaria.core.errors import NotFound
from talaria.ports.journal import Batch, Record
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SECONDS, SESSION, Opening, batch, ending, letter, row, texts


async def take(records: AsyncIterator[Record], count: int) -> list[Record]:
    """The next `count` records."""
    async with asyncio.timeout(SECONDS):
        return [await anext(records) for _ in range(count)]


class ReadContract(Opening):
    """`Journal` but for append, and `Blobs`."""

    async def test_a_read_returns_the_records_after_a_seq_up_to_a_limit(self, store: Store) -> None:
        await store.journal.append(batch(*"abcdef"))
        assert await store.journal.read(SESSION, 2, 3) == [Record(3, b"c"), Record(4, b"d"), Record(5, b"e")]
        assert texts(await store.journal.read(SESSION, 4)) == ["e", "f"]
        assert await store.journal.read(SESSION, 6) == []
        assert await store.journal.read(SESSION, 100) == []

    async def test_an_unknown_session_has_no_records(self, store: Store) -> None:
        assert await store.journal.read("nobody") == []

    async def test_order_is_by_seq_whatever_the_clock_did(self, store: Store) -> None:
        for n, at in enumerate([1000, 1000, 990, 1001]):
            data = (f"m{n + 1}".encode(),)
            await store.journal.append(Batch(SESSION, 1, n, data, (row(f"m{n + 1}", at),)))
        assert texts(await store.journal.read(SESSION)) == ["m1", "m2", "m3", "m4"]

    async def test_bytes_come_back_as_they_were(self, store: Store) -> None:
        entries = (b"", b"\x00", bytes(range(256)), "жук 🐞 \u2028".encode(), b"x" * 300_000)
        session = "t%C3%A9/ü 用户/-/chat:1"
        await store.journal.append(
            Batch(session, 1, 0, entries, (row("ключ", session=session),), (), (("ré/f", b"\x00\xff"),))
        )
        assert [record.data for record in await store.journal.read(session)] == list(entries)
        assert await store.blobs.get(session, "ré/f") == b"\x00\xff"
        assert await store.index.get("run", "ключ") == row("ключ", session=session)
        assert await store.journal.sessions() == [session]

    async def test_a_blob_belongs_to_its_session(self, store: Store) -> None:
        await store.journal.append(Batch(SESSION, 1, 0, (b"a",), blobs=(("ref", b"1"), ("big", b"x" * 1_000_000))))
        assert len(await store.blobs.get(SESSION, "big")) == 1_000_000
        with pytest.raises(NotFound):
            await store.blobs.get("other", "ref")
        with pytest.raises(NotFound):
            await store.blobs.get(SESSION, "nothing")

    async def test_a_tail_yields_what_is_there_and_then_what_comes(self, store: Store) -> None:
        await store.journal.append(batch("a", "b"))
        async with ending(store.journal.tail(SESSION, 1)) as tail:
            assert texts(await take(tail, 1)) == ["b"]
            coming = asyncio.create_task(take(tail, 2))
            await asyncio.wait([coming], timeout=0)
            await store.journal.append(batch("x", session="other"))
            await store.journal.append(batch("c", at=2))
            await store.journal.append(batch("d", at=3))
            assert texts(await coming) == ["c", "d"]

    async def test_a_tail_misses_nothing_of_a_writer_in_full_run(self, store: Store) -> None:
        async def write() -> None:
            for n in range(200):
                await store.journal.append(batch(str(n), at=n))

        async def read() -> list[Record]:
            async with ending(store.journal.tail(SESSION)) as tail:
                return await take(tail, 200)

        readers = [asyncio.create_task(read()) for _ in range(5)]
        async with asyncio.timeout(SECONDS):
            await write()
            for reader in readers:
                assert texts(await reader) == [str(n) for n in range(200)]

    async def test_a_tail_may_begin_before_its_session(self, store: Store) -> None:
        async with ending(store.journal.tail(SESSION)) as tail:
            coming = asyncio.create_task(take(tail, 1))
            await asyncio.wait([coming], timeout=0)
            await store.journal.append(batch("first"))
            assert texts(await coming) == ["first"]

    async def test_sessions_are_listed_in_order_page_by_page(self, store: Store) -> None:
        for name in ("b", "a", "a/2", "c"):
            await store.journal.append(batch("x", session=name))
        assert await store.journal.sessions() == ["a", "a/2", "b", "c"]
        assert await store.journal.sessions("a", 2) == ["a/2", "b"]
        assert await store.journal.sessions("c") == []

    async def test_deletion_takes_all_that_hangs_on_the_session_and_nothing_else(self, store: Store) -> None:
        doomed, spared = (SESSION, f"{SESSION}/run1"), (f"{SESSION}2", "tenant/user/-", f"{SESSION}.x")
        for name in (*doomed, *spared):
            await store.inbox.put(letter(name, session=name))
            await store.journal.append(
                Batch(name, 1, 0, (b"x",), (row(name, session=name),), (), (("ref", name.encode()),))
            )
        await store.journal.delete(SESSION)
        for name in doomed:
            assert await store.journal.read(name) == []
            assert await store.index.get("run", name) is None
            assert await store.inbox.get(name) is None
            assert await store.inbox.turn(f"run-{name}") is None
            with pytest.raises(NotFound):
                await store.blobs.get(name, "ref")
        for name in spared:
            assert texts(await store.journal.read(name)) == ["x"]
            assert await store.blobs.get(name, "ref") == name.encode()
        assert await store.journal.sessions() == sorted(spared)
        assert sorted(await store.inbox.waiting()) == sorted(spared)
        assert {put.key for put in await store.index.find("run")} == set(spared)

    async def test_deleting_the_unknown_is_no_error_and_a_deleted_session_may_begin_again(self, store: Store) -> None:
        await store.journal.delete("nobody")
        await store.journal.append(batch("a", "b"))
        await store.journal.delete(SESSION)
        assert await store.journal.append(batch("new")) == 1
        assert texts(await store.journal.read(SESSION)) == ["new"]
