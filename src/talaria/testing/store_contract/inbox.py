"""The inbox: the first letter of a key is in force, and nobody misses one."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

import asyncio
from collections.abc import AsyncIterator

import msgspec

from talaria.ports.journal import Batch
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SECONDS, SESSION, Opening, ending, letter, row


async def consume(store: Store, *keys: str, at: int = 0) -> None:
    """Answer letters with an entry."""
    await store.journal.append(Batch(SESSION, 1, at, (b"x",), consumed=keys))


async def arrived(watch: AsyncIterator[str]) -> str:
    """The next session that is told."""
    async with asyncio.timeout(SECONDS):
        return await anext(watch)


class InboxContract(Opening):
    """`Inbox`."""

    async def test_a_put_letter_is_in_force_and_returned_itself(self, store: Store) -> None:
        mine = letter("k", body="приказ\x00".encode())
        assert await store.inbox.put(mine) is mine
        assert await store.inbox.get("k") == mine
        assert await store.inbox.get("other") is None

    async def test_of_two_letters_with_one_key_the_first_is_in_force(self, store: Store) -> None:
        first, second = letter("k", body=b"1"), letter("k", body=b"2", session="other")
        await store.inbox.put(first)
        assert await store.inbox.put(second) == first
        assert await store.inbox.get("k") == first
        assert await store.inbox.pending("other") == []

    async def test_the_rows_of_a_letter_are_written_if_it_is_in_force_and_go_with_the_session(
        self, store: Store
    ) -> None:
        mine = row("mine", kind="sealed")
        await store.inbox.put(letter("k"), index=[mine])
        assert await store.index.get("sealed", "mine") == mine
        await store.inbox.put(letter("k", body=b"2"), index=[row("late", kind="sealed")])
        assert await store.index.get("sealed", "late") is None
        await store.journal.delete(SESSION)
        assert await store.index.get("sealed", "mine") is None

    async def test_of_fifty_letters_put_at_once_exactly_one_is_in_force(self, store: Store) -> None:
        letters = [letter("k", body=str(n).encode()) for n in range(50)]
        async with asyncio.timeout(SECONDS):
            results = await asyncio.gather(*(store.inbox.put(one) for one in letters))
        assert len({result.body for result in results}) == 1
        assert sum(result == mine for result, mine in zip(results, letters, strict=True)) == 1
        assert await store.inbox.pending(SESSION) == [results[0]]

    async def test_a_consumed_letter_is_no_longer_pending_but_keeps_its_key(self, store: Store) -> None:
        await store.inbox.put(letter("k"))
        await consume(store, "k", "never put")
        assert await store.inbox.pending(SESSION) == []
        assert await store.inbox.get("k") == letter("k")
        assert await store.inbox.put(letter("k", body=b"2")) == letter("k")
        assert await store.inbox.pending(SESSION) == []

    async def test_a_consumed_letter_older_than_the_limit_gives_way(self, store: Store) -> None:
        await store.inbox.put(letter("k", at=100))
        await consume(store, "k")
        new = letter("k", at=200, body=b"2")
        assert await store.inbox.put(new, replace_before=100) == letter("k", at=100)
        assert await store.inbox.put(new, replace_before=101) is new
        assert await store.inbox.get("k") == new
        assert await store.inbox.pending(SESSION) == [new]

    async def test_a_pending_letter_never_gives_way(self, store: Store) -> None:
        await store.inbox.put(letter("k", at=100))
        assert await store.inbox.put(letter("k", at=200), replace_before=1_000) == letter("k", at=100)

    async def test_the_letter_that_starts_a_run_is_found_by_the_run(self, store: Store) -> None:
        await store.inbox.put(msgspec.structs.replace(letter("c", kind="cancel"), run="run-k"))
        await store.inbox.put(letter("k"))
        assert await store.inbox.turn("run-k") == letter("k")
        await consume(store, "k")
        assert await store.inbox.turn("run-k") == letter("k")
        assert await store.inbox.turn("run-c") is None

    async def test_pending_letters_are_in_order_of_arrival_whatever_the_clock_did(self, store: Store) -> None:
        for key, at in (("z", 30), ("a", 30), ("m", 10)):
            await store.inbox.put(letter(key, at=at))
        await store.inbox.put(letter("elsewhere", session="other"))
        assert [one.key for one in await store.inbox.pending(SESSION)] == ["z", "a", "m"]
        await consume(store, "a")
        assert [one.key for one in await store.inbox.pending(SESSION)] == ["z", "m"]

    async def test_sessions_wait_in_order_of_their_oldest_letter(self, store: Store) -> None:
        for key, session in (("1", SESSION), ("2", "b"), ("3", "a"), ("4", SESSION)):
            await store.inbox.put(letter(key, session=session, at=-int(key)))
        assert await store.inbox.waiting() == [SESSION, "b", "a"]
        await consume(store, "1")
        assert await store.inbox.waiting() == ["b", "a", SESSION]
        await consume(store, "4", at=1)
        assert await store.inbox.waiting() == ["b", "a"]

    async def test_the_watcher_hears_of_letters_put_while_it_waits_and_while_it_works(self, store: Store) -> None:
        await store.inbox.put(letter("before"))
        async with ending(store.inbox.watch()) as watch:
            coming = asyncio.create_task(arrived(watch))
            await asyncio.wait([coming], timeout=0)
            await store.inbox.put(letter("1", session="a"))
            assert await coming == "a"
            await store.inbox.put(letter("2", session="b"))
            await store.inbox.put(letter("3", session="c"))
            assert [await arrived(watch), await arrived(watch)] == ["b", "c"]

    async def test_the_watcher_hears_of_letters_put_before_its_first_step(self, store: Store) -> None:
        async with ending(store.inbox.watch()) as watch:
            await store.inbox.put(letter("1", session="a"))
            assert await arrived(watch) == "a"

    async def test_the_watcher_does_not_hear_of_a_letter_that_came_second(self, store: Store) -> None:
        await store.inbox.put(letter("k", session="a"))
        async with ending(store.inbox.watch()) as watch:
            await store.inbox.put(letter("k", session="a"))
            await store.inbox.put(letter("new", session="b"))
            assert await arrived(watch) == "b"
