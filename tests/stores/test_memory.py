"""The memory store keeps the contract."""

from pathlib import Path

from talaria.ports.store import Store
from talaria.runtime.stores import open_store
from talaria.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    async def open_store(self, folder: Path) -> Store:
        return await open_store("memory://")
