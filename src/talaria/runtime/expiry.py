"""When a session is over: some time after its last turn, and some time after it began."""

import msgspec

from talaria.journal.state import SessionState
from talaria.runtime.settings import SessionSettings


class Expiry(msgspec.Struct, frozen=True, gc=False):
    """How long sessions last, in ms; None: for ever. A run that is not over keeps its session: ask only without one."""

    idle: int | None = None
    absolute: int | None = None

    @staticmethod
    def of(settings: SessionSettings) -> "Expiry":
        """As it is configured."""
        return Expiry(milliseconds(settings.idle_ttl), milliseconds(settings.absolute_ttl))

    @property
    def is_on(self) -> bool:
        """Whether sessions expire at all."""
        return self.idle is not None or self.absolute is not None

    def is_over(self, created: int, last: int, now: int) -> bool:
        """Whether a session that began at `created`, and whose last turn was at `last`, has expired."""
        is_idle = self.idle is not None and now - last >= self.idle
        return is_idle or (self.absolute is not None and now - created >= self.absolute)

    def ends(self, state: SessionState, now: int) -> bool:
        """Whether a turn that was sent at `now` finds the session expired."""
        end = state.run.finished if state.run is not None else None
        return state.turns > 0 and end is not None and self.is_over(state.created, end.at, now)


def milliseconds(seconds: float | None) -> int | None:
    """Seconds of the configuration in ms."""
    return None if seconds is None else int(seconds * 1000)
