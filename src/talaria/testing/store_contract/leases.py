"""Leases: one owner at a time, and nobody who was one comes back."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

import pytest

from talaria.core.errors import StaleOwner
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SESSION, Opening, batch


class LeaseContract(Opening):
    """`Leases`."""

    async def test_a_session_has_one_owner_at_a_time(self, store: Store) -> None:
        epoch = await store.leases.acquire(SESSION)
        assert epoch is not None
        assert await store.leases.acquire(SESSION) is None
        assert await store.leases.acquire("another") is not None
        await store.leases.release(SESSION, epoch)
        assert await store.leases.acquire(SESSION) is not None

    async def test_epochs_grow(self, store: Store) -> None:
        epochs: list[int] = []
        for _ in range(5):
            epoch = await store.leases.acquire(SESSION)
            assert epoch is not None
            epochs.append(epoch)
            await store.leases.release(SESSION, epoch)
        assert epochs == sorted(set(epochs))

    async def test_releasing_what_is_not_held_does_nothing(self, store: Store) -> None:
        await store.leases.release(SESSION, 1)
        old = await store.leases.acquire(SESSION)
        assert old is not None
        await store.leases.release(SESSION, old)
        new = await store.leases.acquire(SESSION)
        await store.leases.release(SESSION, old)
        assert new is not None
        assert await store.leases.acquire(SESSION) is None

    async def test_an_owner_who_comes_back_after_another_took_over_writes_nothing(self, store: Store) -> None:
        old = await store.leases.acquire(SESSION)
        assert old is not None
        await store.journal.append(batch("a", epoch=old))
        await store.leases.release(SESSION, old)
        new = await store.leases.acquire(SESSION)
        assert new is not None
        with pytest.raises(StaleOwner):
            await store.journal.append(batch("b", at=1, epoch=old))
        assert await store.journal.append(batch("b", at=1, epoch=new)) == 2

    async def test_epochs_grow_over_deletion(self, store: Store) -> None:
        old = await store.leases.acquire(SESSION)
        assert old is not None
        await store.journal.append(batch("a", epoch=old))
        await store.leases.release(SESSION, old)
        await store.journal.delete(SESSION)
        new = await store.leases.acquire(SESSION)
        assert new is not None
        assert new > old
