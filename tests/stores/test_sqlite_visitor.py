"""A second process on the file: it reads and puts letters, and the owner hears of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from talaria.core.errors import StaleOwner
from talaria.ports.inbox import Letter
from talaria.ports.journal import Batch
from talaria.stores.sqlite.store import SqliteStore
from talaria.testing.store_contract.opening import ending
from tests.stores.processes import SECONDS, child


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "talaria.db"


@pytest.fixture
async def owner(database: Path) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(str(database))
    yield store
    await store.close()


@pytest.fixture
async def visitor(owner: SqliteStore, database: Path) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(str(database), owner=False)
    yield store
    await store.close()


def letter(key: str, session: str = "s") -> Letter:
    return Letter(session, key, "decision", "r", 1, b"{}")


async def test_the_owner_hears_of_a_letter_put_by_another_process(owner: SqliteStore, database: Path) -> None:
    async with ending(owner.inbox.watch()) as watch:
        async with child("visit", database) as process:
            assert await process.rest() == ["lease None", "stale", "put APPROVE"]
        async with asyncio.timeout(SECONDS):
            assert await anext(watch) == "s"
    assert [one.body for one in await owner.inbox.pending("s")] == [b"APPROVE"]


async def test_another_process_reads_along(owner: SqliteStore, database: Path) -> None:
    await owner.journal.append(Batch("s", 1, 0, (b"one",)))
    async with child("follow", database) as process:
        assert [await process.line(), await process.line()] == ["open", "one"]
        await owner.journal.append(Batch("s", 1, 1, (b"two", b"three")))
        assert [await process.line(), await process.line()] == ["two", "three"]


async def test_each_letter_is_told_once_whoever_puts_it(owner: SqliteStore, visitor: SqliteStore) -> None:
    told: list[str] = []
    async with ending(owner.inbox.watch()) as watch, asyncio.timeout(SECONDS):
        for n in range(3):
            await owner.inbox.put(letter(f"own{n}", f"own{n}"))
            await visitor.inbox.put(letter(f"foreign{n}", f"foreign{n}"))
        await visitor.inbox.put(letter("own1", "elsewhere"))
        told += [await anext(watch) for _ in range(6)]
        await visitor.inbox.put(letter("last", "last"))
        told.append(await anext(watch))
    assert sorted(told[:-1]) == [f"foreign{n}" for n in range(3)] + [f"own{n}" for n in range(3)]
    assert told[-1] == "last"


async def test_a_letter_from_outside_is_heard_of_while_own_letters_keep_coming(
    owner: SqliteStore, visitor: SqliteStore
) -> None:
    async with ending(owner.inbox.watch()) as watch, asyncio.timeout(SECONDS):
        await visitor.inbox.put(letter("foreign", "foreign"))
        for n in range(100_000):
            await owner.inbox.put(letter(f"own{n}", "own"))
            if await anext(watch) == "foreign":
                return
    pytest.fail("never heard of it")


async def test_letters_that_were_consumed_before_a_look_are_not_remembered(
    owner: SqliteStore, visitor: SqliteStore
) -> None:
    async with ending(owner.inbox.watch()) as watch, asyncio.timeout(SECONDS):
        await owner.inbox.put(letter("own", "s"))
        assert await anext(watch) == "s"
        await owner.journal.append(Batch("s", 1, 0, (b"x",), consumed=("own",)))
        while owner.inbox._told:  # pyright: ignore[reportPrivateUsage]
            await visitor.inbox.put(letter(f"foreign{len(owner.inbox._told)}", "s"))  # pyright: ignore[reportPrivateUsage]
            await anext(watch)


async def test_of_one_key_put_by_owner_and_visitor_one_is_in_force(owner: SqliteStore, visitor: SqliteStore) -> None:
    async with asyncio.timeout(SECONDS):
        results = await asyncio.gather(
            *(store.inbox.put(letter("k", f"s{n}")) for n in range(25) for store in (owner, visitor))
        )
    assert len({result.session for result in results}) == 1


async def test_a_visitor_sees_what_the_owner_wrote_and_may_not_write_itself(
    owner: SqliteStore, visitor: SqliteStore
) -> None:
    await owner.journal.append(Batch("s", 1, 0, (b"x",)))
    assert len(await visitor.journal.read("s")) == 1
    assert await visitor.leases.acquire("s") is None
    for call in (
        visitor.journal.append(Batch("s", 9, 1, (b"y",))),
        visitor.journal.delete("s"),
        visitor.index.replace("s", []),
    ):
        with pytest.raises(StaleOwner):
            await call
    await visitor.check()
    assert len(await owner.journal.read("s")) == 1
