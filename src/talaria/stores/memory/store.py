"""The memory store, whole."""

from talaria.ports.store import Commits
from talaria.stores.leases import LocalLeases
from talaria.stores.memory.inbox import MemoryInbox
from talaria.stores.memory.index import MemoryIndex
from talaria.stores.memory.journal import MemoryBlobs, MemoryJournal
from talaria.stores.memory.state import MemoryState


class MemoryStore:
    """A store without a disk, a thread or a task. Its content is gone when it is closed."""

    def __init__(self) -> None:
        self._state = MemoryState()
        self._generation = 1
        self.commits = Commits()
        self.leases = LocalLeases(self._generation, self._next_generation)
        self.index = MemoryIndex(self._state)
        self.inbox = MemoryInbox(self._state, self.index)
        self.blobs = MemoryBlobs(self._state)
        self.journal = MemoryJournal(self._state, self.index, self.inbox, self.leases)

    async def _next_generation(self) -> int:
        self._generation += 1
        return self._generation

    async def check(self) -> None:
        """See the port."""
        self._state.check()

    async def close(self) -> None:
        """See the port."""
        self._state.closed = True
        self.leases.close()
        self.inbox.close()
        self.journal.close()
