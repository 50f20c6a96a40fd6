"""Breakers: a tool whose calls keep failing is left alone for a while, then tried with one call."""

from collections.abc import Callable
from dataclasses import dataclass

from talaria.telemetry.metrics import Metrics


@dataclass(slots=True)
class _Breaker:
    """`opened`: when it did, in ms; None while it is closed."""

    failures: int = 0
    opened: int | None = None
    is_probed: bool = False


class Breakers:
    """The breakers of this process, by what may be out of order: a tool's name, or what several tools go through.

    After `threshold` failures in a row one is open for `cooldown` seconds. Then one call at a time is let through, and
    the first that succeeds closes it. A `threshold` of None: none ever opens. `now` is the time in ms.
    """

    def __init__(self, threshold: int | None, cooldown: float, now: Callable[[], int], metrics: Metrics) -> None:
        self.threshold = threshold
        self._cooldown = int(cooldown * 1000)
        self._now = now
        self._metrics = metrics
        self._breakers: dict[str, _Breaker] = {}

    def is_open(self, key: str) -> bool:
        """Whether calls are held back. One that may go on all the same is the probe."""
        breaker = self._breakers.get(key)
        return breaker is not None and breaker.opened is not None

    def enter(self, key: str) -> float:
        """Return 0 if a call may go on, which ends in `leave`; else the seconds after which one may be tried."""
        breaker = self._breakers.get(key)
        if breaker is None or breaker.opened is None:
            return 0
        waited = self._now() - breaker.opened
        if breaker.is_probed or 0 <= waited < self._cooldown:  # a clock that stepped back holds nobody up
            self._metrics.count("breaker_refused", tool=key)
            return max(1.0, (self._cooldown - waited) / 1000)
        breaker.is_probed = True
        return 0

    def leave(self, key: str, good: bool | None, *, is_probe: bool) -> bool:
        """A call ended, well or not; None: that says nothing. Return whether it opened the breaker."""
        breaker = self._breakers.get(key)
        if breaker is None:
            if good is not False:
                return False
            breaker = self._breakers[key] = _Breaker()
        if is_probe:
            breaker.is_probed = False
        elif breaker.opened is not None:
            return False  # it began before
        if good:
            breaker.failures, breaker.opened = 0, None
        elif good is False:
            return self._failed(key, breaker)
        return False

    def _failed(self, key: str, breaker: _Breaker) -> bool:
        breaker.failures += 1
        was_closed = breaker.opened is None
        if was_closed and (self.threshold is None or breaker.failures < self.threshold):
            return False
        breaker.opened = self._now()
        if was_closed:
            self._metrics.count("breaker_opened", tool=key)
        return was_closed

    def open_by_key(self) -> dict[str, bool]:
        """Whether each breaker is open, of those that ever saw a failure."""
        return {key: breaker.opened is not None for key, breaker in self._breakers.items()}
