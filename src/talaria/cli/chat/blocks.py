"""What a turn consists of on the screen: blocks, which grow as events come."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from talaria.cli.chat.turn import Turn


@dataclass(slots=True)
class Words:
    """Text in the pieces in which it came, each with the number of its event."""

    pieces: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    began: float = 0.0
    ended: float = 0.0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(piece for _, piece in self.pieces)

    def drop_after(self, number: int) -> None:
        """Keep only what came up to this event."""
        self.pieces = [piece for piece in self.pieces if piece[0] <= number]


@dataclass(slots=True)
class Said(Words):
    """What the model says: Markdown."""


@dataclass(slots=True)
class Thought(Words):
    """What the model thinks."""


@dataclass(slots=True)
class Asked:
    """What the user said, in a session that is shown again."""

    text: str


@dataclass(slots=True)
class Called:
    """A tool call. `result` is None until it has ended, `decision` is what a person decided about it.

    `plan`: what it made the plan, as (status, step).
    """

    id: str
    name: str
    arguments: str = ""
    started: float | None = None
    is_asked: bool = False
    decision: str = ""
    output: str = ""
    plan: tuple[tuple[str, str], ...] | None = None
    result: str | None = None
    is_error: bool = False
    seconds: float | None = None


@dataclass(slots=True)
class Delegated:
    """A subagent at work: a turn of its own, folded to a line."""

    name: str
    task: str
    turn: "Turn"


@dataclass(slots=True)
class Noticed:
    """Something worth a dim line."""

    text: str


@dataclass(slots=True)
class Ended:
    """How a turn ended: a finish reason, or the sentence of an error."""

    reason: str = ""
    error: str = ""
    usage: dict[str, Any] = field(default_factory=dict[str, Any])


Block = Said | Thought | Asked | Called | Delegated | Noticed | Ended


@dataclass(frozen=True, slots=True)
class Question:
    """An open question to a person: whether a call may run (`call`), or one that the model asks."""

    id: str
    call: Called | None = None
    text: str = ""
    choices: tuple[str, ...] = ()
    who: str = ""
    why: str = ""
