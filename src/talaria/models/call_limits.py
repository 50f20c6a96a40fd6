"""Limits on model calls over all routes: so many a minute, so many at once of one run. "Busy" is an answer."""

from collections import deque

from talaria.core.errors import Overloaded
from talaria.models.turnstile import MINUTE
from talaria.ports.clock import Clock


class CallLimits:
    """Counts calls. `per_minute` over every span of 60 s, None is any number; `at_once` of one run."""

    def __init__(self, clock: Clock, per_minute: int | None = None, at_once: int = 8) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._at_once = at_once
        self._made: deque[int] = deque()
        self._under_way: dict[str, int] = {}

    def enter(self, run_id: str) -> None:
        """Take the place of one call, until it leaves.

        Raises:
            Overloaded: there is none.
        """
        if run_id and self._under_way.get(run_id, 0) >= self._at_once:
            raise Overloaded(
                f"busy: {self._at_once} model calls of this run are under way; wait for one", retry_after=1
            )
        self._count()
        self._under_way[run_id] = self._under_way.get(run_id, 0) + 1

    def leave(self, run_id: str) -> None:
        """Give the place of one call back."""
        left = self._under_way.pop(run_id) - 1
        if left:
            self._under_way[run_id] = left

    def _count(self) -> None:
        if self._per_minute is None:
            return
        now = self._clock.now()
        while self._made and self._made[0] <= now - MINUTE:
            self._made.popleft()
        if len(self._made) >= self._per_minute:
            wait = (self._made[0] + MINUTE - now) / 1000
            raise Overloaded("busy: as many model calls a minute as there may be; try again later", retry_after=wait)
        self._made.append(now)
