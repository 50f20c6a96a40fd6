"""What a client sees of a run: one flat event, and its place in the run's order."""

import re
from typing import Any

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.core.usage import Usage

Position = tuple[int, ...]
"""Where an event stands: (seq, epoch, attempt, offset).

Events of a journal entry: (its seq, 0, 0, index within the entry). Text of an unfinished or finished message:
(the last seq published before it, the owner's epoch, the number of the model call, code points said after it).
Where entries of subagents have come while the message is unfinished, a fifth number is the seq of the last of them.
Tuples compare in the order in which a client gets the events.
"""

START: Position = (0, 0, 0, 0)
_POSITION = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15}|(?:\.[0-9]{1,15}){3,4})", re.ASCII)


class CallInfo(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A tool call in an event; `arguments` is the JSON text the model wrote."""

    id: str
    name: str
    arguments: str | None = None


class ResultInfo(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """How a tool call ended; `result` is the text that the model gets."""

    id: str
    name: str
    result: str
    is_error: bool = False
    duration_ms: int | None = None
    truncated: bool = False


class UsageInfo(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Usage in an event: input and output are always there."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    estimated: bool = False

    @staticmethod
    def of(usage: Usage) -> "UsageInfo":
        """The same figures, as an event has them."""
        return UsageInfo(
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
            usage.cost,
            usage.estimated,
        )


class ChatEvent(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """One event of the stream; which fields are set depends on `type` (see the wire reference).

    `data` is text or a number, a list of steps in `todo`, and any JSON value in `custom`.
    """

    type: str
    data: Any = None
    name: str | None = None
    reason: str | None = None
    usage: UsageInfo | None = None
    tool_calls: tuple[CallInfo, ...] | None = None
    tool_results: tuple[ResultInfo, ...] | None = None
    step: int | None = None
    tool_call_id: str | None = None
    session_id: str | None = None
    model_name: str | None = None
    expires_at: str | None = None
    question: str | None = None
    choices: tuple[str, ...] | None = None
    task_id: str | None = None
    mime_type: str | None = None
    size: int | None = None
    url: str | None = None


def write_position(position: Position) -> str:
    """The position as it stands in an event id."""
    return ".".join(map(str, position)) if position[1] else f"{position[0]}.{position[3]}"


def rewind_event(run_id: str, target: Position, task: str = "") -> ChatEvent:
    """Tell a client to drop all text after the event at `target`, of a subagent's task only: it is said again."""
    return ChatEvent("rewind", f"{run_id}/{write_position(target)}", task_id=task or None)


def task_event(task: str, event: ChatEvent) -> ChatEvent:
    """The event as one of a subagent's; `custom` ones keep their name beside their data."""
    data = {"name": event.name, "data": event.data} if event.type == "custom" else event.data
    name, _, _ = task.partition(":")
    return msgspec.structs.replace(event, type=f"subagent_{event.type}", data=data, name=name, task_id=task)


def read_position(text: str) -> Position:
    """The inverse of `write_position`.

    Raises:
        InvalidRequest: not a position.
    """
    if not _POSITION.fullmatch(text):
        raise InvalidRequest(f"'{text[:80]}' is not an event position; send back an id exactly as it was received")
    numbers = [int(part) for part in text.split(".")]
    if len(numbers) == 2:
        return (numbers[0], 0, 0, numbers[1])
    seq, epoch, attempt, offset = numbers[:4]
    return (seq, epoch, attempt, offset) if len(numbers) == 4 else (seq, epoch, attempt, offset, numbers[4])


def is_after(position: Position, seen: Position) -> bool:
    """Whether a client that is at `seen` has not got the event at `position`."""
    return position > seen and (len(seen) == 4 or position[1] > 0 or position[0] > seen[4])


def seen_seq(position: Position) -> int:
    """The seq of the last entry whose events a client at this position has, as far as they have any."""
    return position[4] if len(position) == 5 else position[0]
