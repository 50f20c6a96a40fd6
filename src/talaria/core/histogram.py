"""A histogram: how many values fell between which bounds, counted while they come and read when somebody asks."""

from bisect import bisect_left
from collections.abc import Sequence


class Histogram:
    """Counts values by the first bound that they are not above; the last count is of those above all bounds.

    One thread adds. Another one that reads meanwhile may be a value behind.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)
