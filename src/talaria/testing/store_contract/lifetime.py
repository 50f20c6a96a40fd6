"""Checking and closing."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

import asyncio

import pytest

from talaria.core.errors import StoreClosed
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SECONDS, SESSION, Opening, batch, ending, letter


class LifetimeContract(Opening):
    """`Store.check` and `Store.close`."""

    async def test_an_open_store_checks_out(self, store: Store) -> None:
        async with asyncio.timeout(SECONDS):
            await store.check()

    async def test_closing_twice_is_no_error(self, store: Store) -> None:
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(store.close(), store.close())
            await store.close()

    async def test_everything_is_refused_once_the_store_is_closed(self, store: Store) -> None:
        await store.journal.append(batch("a"))
        await store.close()
        calls = (
            store.journal.append(batch("b", at=1)),
            store.journal.read(SESSION),
            store.journal.sessions(),
            store.journal.delete(SESSION),
            store.index.find("run"),
            store.index.get("run", "a"),
            store.index.replace(SESSION, []),
            store.inbox.put(letter("k")),
            store.inbox.pending(SESSION),
            store.inbox.waiting(),
            store.leases.acquire(SESSION),
            store.blobs.get(SESSION, "ref"),
            store.check(),
        )
        for call in calls:
            with pytest.raises(StoreClosed):
                await call
        await store.leases.release(SESSION, 1)

    async def test_what_was_begun_before_closing_is_finished_or_refused(self, store: Store) -> None:
        appends = [store.journal.append(batch("x", session=f"s{n}")) for n in range(50)]
        await asyncio.wait(appends, timeout=0)
        async with asyncio.timeout(SECONDS):
            await store.close()
            results = await asyncio.gather(*appends, return_exceptions=True)
        assert all(result == 1 or isinstance(result, StoreClosed) for result in results)

    async def test_waiting_readers_hear_that_the_store_is_closed(self, store: Store) -> None:
        async with ending(store.journal.tail(SESSION)) as tail, ending(store.inbox.watch()) as watch:
            waiting = (asyncio.ensure_future(anext(tail)), asyncio.ensure_future(anext(watch)))
            await asyncio.wait(waiting, timeout=0)
            async with asyncio.timeout(SECONDS):
                await store.close()
                for one in waiting:
                    with pytest.raises(StoreClosed):
                        await one
