"""Room for sandboxes: how many may be there at once, and who gets room next."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from talaria.core.errors import SandboxUnavailable
from talaria.ports.clock import Clock


@dataclass(eq=False, slots=True)
class _Waiter:
    tenant: str
    granted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Room:
    """Counts by tenant. Room that is given back goes to whoever waits in the tenant that has least, first come first.

    `on_wait` is told when somebody begins to wait.
    """

    def __init__(self, size: int, clock: Clock, on_wait: Callable[[], None]) -> None:
        self._size = size
        self._clock = clock
        self._on_wait = on_wait
        self._taken = Counter[str]()
        self._waiting: list[_Waiter] = []

    @property
    def taken(self) -> int:
        """How much is taken."""
        return self._taken.total()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def try_take(self, tenant: str) -> bool:
        """Take room if there is some that nobody waits for."""
        if self._waiting or self.taken >= self._size:
            return False
        self._taken[tenant] += 1
        return True

    async def take(self, tenant: str, seconds: float) -> None:
        """Take room, or wait for it for so long.

        Raises:
            SandboxUnavailable: there was none in time.
        """
        if self.try_take(tenant):
            return
        waiter = _Waiter(tenant)
        self._waiting.append(waiter)
        alarm = asyncio.create_task(self._clock.sleep(seconds), name="room for a sandbox")
        try:
            self._on_wait()
            await asyncio.wait((waiter.granted, alarm), return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            if waiter.granted.done():
                self.give(tenant)
            raise
        finally:
            alarm.cancel()
            if waiter in self._waiting:
                self._waiting.remove(waiter)
        if not waiter.granted.done():
            raise SandboxUnavailable(
                f"all {self._size} sandboxes are in use, and none became free within {seconds:g} s;"
                " try again later, or raise sandbox.max",
            )

    def give(self, tenant: str) -> None:
        """Give room back."""
        self._drop(tenant)
        while self._waiting and self.taken < self._size:
            first = min(self._waiting, key=lambda waiter: self._taken[waiter.tenant])
            self._waiting.remove(first)
            self._taken[first.tenant] += 1
            first.granted.set_result(None)

    def move(self, tenant: str, other: str) -> None:
        """What one had is another's now."""
        self._drop(tenant)
        self._taken[other] += 1

    def _drop(self, tenant: str) -> None:
        self._taken[tenant] -= 1
        if not self._taken[tenant]:
            del self._taken[tenant]
