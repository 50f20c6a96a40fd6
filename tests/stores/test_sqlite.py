"""The SQLite store keeps the contract."""

from pathlib import Path

from talaria.ports.store import Store
from talaria.runtime.stores import open_store
from talaria.testing.store_contract import DurableStoreContract


class TestSqliteStore(DurableStoreContract):
    async def open_store(self, folder: Path) -> Store:
        return await open_store(f"sqlite:///{folder}/talaria.db")
