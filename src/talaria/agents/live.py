"""Where a run, or a subagent's task in it, says what is not recorded yet."""

from collections.abc import Sequence
from typing import Protocol

from talaria.core.events import ChatEvent, Position
from talaria.ports.model import Delta


class Live(Protocol):
    """See live.buffer."""

    @property
    def seq(self) -> int:
        """The last entry that was published."""
        ...

    def begin(self, epoch: int, attempt: int) -> int:
        """A model call begins; returns the seq after which what it says stands."""
        ...

    def say(self, deltas: Sequence[Delta]) -> None:
        """The model said something."""
        ...

    def tell(self, event: ChatEvent) -> None:
        """Say something that is in no entry."""
        ...

    def task(self, task: str, anchor: Position) -> "Live":
        """Where a subagent says what it says; `anchor`: where its last event so far stands."""
        ...
