"""How much is measured: all of it, or just enough to see that a benchmark works."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """`rounds` alternate between contenders; `share` of the full numbers is done, but never nothing."""

    rounds: int = 5
    share: float = 1.0

    def of(self, full: int) -> int:
        """The part of a full number."""
        return max(1, round(full * self.share))


TINY = Size(rounds=1, share=0.01)
