"""Leases within the one process that runs on a store: a dictionary, and epochs that grow over restarts."""

from collections.abc import Awaitable, Callable

from talaria.core.errors import StaleOwner, StoreClosed
from talaria.ports.journal import Batch

EPOCH_BITS = 24


class LocalLeases:
    """Hands out epochs `generation << bits | counter`; a generation is one opening of the store.

    `next_generation` is asked for another generation when a counter is used up, and must make it durable first.
    """

    def __init__(self, generation: int, next_generation: Callable[[], Awaitable[int]], bits: int = EPOCH_BITS) -> None:
        self._held: dict[str, int] = {}
        self._next_generation = next_generation
        self._bits = bits
        self._is_closed = False
        self._begin(generation)

    def _begin(self, generation: int) -> None:
        self._epoch = generation << self._bits
        self._last = self._epoch | ((1 << self._bits) - 1)

    async def acquire(self, session: str) -> int | None:
        """See the port."""
        if self._is_closed:
            raise StoreClosed("the store is closed; open it again")
        if session in self._held:
            return None
        if self._epoch >= self._last:
            self._begin(await self._next_generation())
            if session in self._held:
                return None
        self._epoch += 1
        self._held[session] = self._epoch
        return self._epoch

    async def release(self, session: str, epoch: int) -> None:
        """See the port."""
        if self._held.get(session) == epoch:
            del self._held[session]

    def check(self, batch: Batch) -> None:
        """Raise StaleOwner when somebody else holds the session by now."""
        held = self._held.get(batch.session)
        if held is not None and held > batch.epoch:
            raise StaleOwner(f"{batch.session}: epoch {batch.epoch} is over, {held} owns the session now")

    def close(self) -> None:
        """Nobody holds anything any more."""
        self._is_closed = True
        self._held.clear()
