"""What every store must do, as tests. Subclass `StoreContract` in a test file and say how a store is opened."""

from talaria.testing.store_contract.appends import AppendContract
from talaria.testing.store_contract.durable import DurableContract
from talaria.testing.store_contract.inbox import InboxContract
from talaria.testing.store_contract.index import IndexContract
from talaria.testing.store_contract.leases import LeaseContract
from talaria.testing.store_contract.lifetime import LifetimeContract
from talaria.testing.store_contract.reads import ReadContract


class StoreContract(AppendContract, LeaseContract, ReadContract, IndexContract, InboxContract, LifetimeContract):
    """The suite for any store. `open_store(folder)` is the one method to write."""


class DurableStoreContract(StoreContract, DurableContract):
    """The suite for a store that keeps what it has: `open_store` with the same folder opens it again."""


__all__ = ["DurableStoreContract", "StoreContract"]
