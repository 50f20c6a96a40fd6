"""How many sandboxes there are and for how long, and where it is counted what becomes of them."""

from dataclasses import dataclass
from typing import Protocol


class Counters(Protocol):
    """Where it is counted what happens."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Something happened."""
        ...

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Something took so long."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many sandboxes run at once, after how many seconds they end and their workspaces go, how many are spare.

    `is_lasting`: whether sandboxes and workspaces outlive the pool.
    """

    size: int
    idle: float
    keep: float
    spares: int = 0
    is_lasting: bool = True
