"""What an agent of one's own is given of the runtime: five parts, and the values that go through them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from talaria.core.messages import AssistantMessage, Message, ToolCall, ToolMessage

PARTS = ("models", "tools", "approvals", "agents", "metrics")


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent of one's own answers."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a tool said. `is_error`: it failed, was refused, or it is not known whether it took effect."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Consent:
    """What became of a question about an action. Only a clear yes is `given`; `details` are as the person left them.

    `outcome` is `approved`, `edited`, `declined` or `expired`, or `refused` where nobody could be asked; `comment` then
    says why.
    """

    outcome: str
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    by: str = ""
    comment: str = ""

    @property
    def given(self) -> bool:
        """Whether a person agreed."""
        return self.outcome in ("approved", "edited")


class Models(Protocol):
    """Asks models; each answer is on record, and handed back without asking again when the run resumes."""

    async def ask(
        self, messages: str | Sequence[Message], *, model: str = "", system: str = "", tools: Iterable[str] = ()
    ) -> AssistantMessage:
        """Return the model's answer to a question or a conversation; `model` is empty for the turn's own.

        `tools` names those of the turn's tools that the model may decide on: `answer.calls` are its decisions, which
        `Tools.answer` runs.

        Raises:
            ModelError: there is no answer.
            InvalidRequest: a tool is none of this turn's.
        """
        ...


class Tools(Protocol):
    """Calls tools, through the one chain: checks, approvals and the record are the same as for a model's calls."""

    @property
    def names(self) -> tuple[str, ...]:
        """The tools of this turn."""
        ...

    async def call(self, name: str, /, **arguments: Any) -> ToolReply:
        """Return what the tool said. A call that waits for a person ends `invoke`, which begins anew later."""
        ...

    async def answer(self, call: ToolCall) -> ToolMessage:
        """Run a call that a model decided on, and return the message that answers it."""
        ...


class Approvals(Protocol):
    """Asks people."""

    async def ask(self, action: str, /, **details: Any) -> Consent:
        """Ask whether an action may be taken, and return what was decided. It ends `invoke`, which begins anew later.

        The question is an `approval_request` like any other: the same endpoints, the same time limit.
        """
        ...

    async def question(self, text: str, /, *choices: str) -> str | None:
        """Return what the user answers, perhaps one of the choices; None if there is no answer. It ends `invoke` too.

        The user sees a `question` event, as with the tool AskUser.
        """
        ...


class Agents(Protocol):
    """Asks other agents of this deployment, within this run: its limits, its principal, its allowed tools."""

    async def ask(self, name: str, query: str) -> Reply:
        """Return what the agent answers to the query alone. Its model's answers and its calls are steps of this run.

        Raises:
            ModelError: its model gave no answer.
            Forbidden: the turn's principal has none of its roles.
            InvalidRequest: there is no such agent that has instructions and tools, and no `deps`.
            OutputInvalid: it came to no answer within the rounds of a run.
        """
        ...


class Metrics(Protocol):
    """Counts and times; what came before a step that is on record is not counted again."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a duration."""
        ...
