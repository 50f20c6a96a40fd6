"""The clock: what time it is, and waiting for it."""

from collections.abc import Coroutine
from datetime import tzinfo
from typing import Any, Protocol


class Clock(Protocol):
    """Time as the harness sees it; tests bring one that they move themselves."""

    @property
    def zone(self) -> tzinfo:
        """The zone in which dates are told to models."""
        ...

    def now(self) -> int:
        """Milliseconds since 1970, UTC. It may step back."""
        ...

    def sleep(self, seconds: float) -> Coroutine[Any, Any, None]:
        """Wait, counted from the call. Cancellable at once."""
        ...
