"""Windows: the minute, the hour and the day that a moment is in, as the clock on the wall has them."""

from datetime import datetime, timedelta, tzinfo
from typing import Literal

from talaria.ports.clock import Clock

Per = Literal["minute", "hour", "day"]
Window = tuple[int, int]
"""Its first ms, and the first one after it."""

MINUTE, HOUR = 60_000, 3_600_000


def day_start(day: datetime, zone: tzinfo) -> int:
    """When a date begins in a zone, in ms. A day has 23 or 25 hours where clocks are changed."""
    return int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() * 1000)


def window(per: Per, at: int, zone: tzinfo) -> Window:
    """The window of a moment."""
    if per == "minute":
        start = at - at % MINUTE
        return start, start + MINUTE
    when = datetime.fromtimestamp(at / 1000, zone)
    if per == "hour":
        start = at - at % MINUTE - when.minute * MINUTE
        return start, start + HOUR
    return day_start(when, zone), day_start(when + timedelta(days=1), zone)


class Windows:
    """The windows that are open now; made anew only when they are over."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[Per, Window] = {}

    def time(self) -> int:
        """This moment, in ms."""
        return self._clock.now()

    def now(self, per: Per) -> Window:
        """The window of this moment."""
        at, found = self._clock.now(), self._open.get(per)
        if found is None or not found[0] <= at < found[1]:
            found = self._open[per] = window(per, at, self._clock.zone)
        return found
