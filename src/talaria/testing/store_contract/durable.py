"""What a durable store keeps over closing and opening."""

# ruff: noqa: D102 - the names of tests are their docstrings, and numbers are examples

import asyncio
from pathlib import Path

import pytest

from talaria.core.errors import SeqConflict, StaleOwner
from talaria.ports.journal import Batch
from talaria.ports.store import Store
from talaria.testing.store_contract.opening import SESSION, Opening, batch, letter, row, texts


class DurableContract(Opening):
    """Reopening."""

    async def test_everything_is_there_after_reopening(self, store: Store, tmp_path: Path) -> None:
        for key in ("2", "1", "0"):
            await store.inbox.put(letter(key))
        await store.journal.append(Batch(SESSION, 1, 0, (b"a", b"b"), (row("r", 5),), ("2",), (("ref", b"blob"),)))
        await store.close()
        again = await self.open_store(tmp_path)
        try:
            assert texts(await again.journal.read(SESSION)) == ["a", "b"]
            assert await again.index.find("run") == [row("r", 5)]
            assert await again.inbox.pending(SESSION) == [letter("1"), letter("0")]
            assert await again.inbox.get("2") == letter("2")
            assert await again.blobs.get(SESSION, "ref") == b"blob"
            with pytest.raises(SeqConflict):
                await again.journal.append(batch("c", at=1))
            assert await again.journal.append(batch("c", at=2)) == 3
        finally:
            await again.close()

    async def test_epochs_grow_over_reopening_and_older_owners_stay_out(self, store: Store, tmp_path: Path) -> None:
        old = await store.leases.acquire(SESSION)
        assert old is not None
        await store.journal.append(batch("a", epoch=old))
        await store.journal.append(batch("x", epoch=old, session="deleted"))
        await store.journal.delete("deleted")
        await store.close()
        again = await self.open_store(tmp_path)
        try:
            new = await again.leases.acquire(SESSION)
            other = await again.leases.acquire("deleted")
            assert new is not None
            assert other is not None
            assert min(new, other) > old
            await again.journal.append(batch("b", at=1, epoch=new))
            with pytest.raises(StaleOwner):
                await again.journal.append(batch("c", at=2, epoch=old))
        finally:
            await again.close()

    async def test_closing_waits_for_what_was_accepted(self, store: Store, tmp_path: Path) -> None:
        appends = [store.journal.append(batch("x", session=f"s{n:02}")) for n in range(50)]
        await asyncio.wait(appends, timeout=0)
        await store.close()
        results = await asyncio.gather(*appends, return_exceptions=True)
        again = await self.open_store(tmp_path)
        try:
            assert len(await again.journal.sessions()) == results.count(1)
        finally:
            await again.close()
