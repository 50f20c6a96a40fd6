"""History that a client brings along, made valid for every provider."""

from collections.abc import Mapping, Sequence
from itertools import count

import msgspec

from talaria.core.messages import AssistantMessage, Message, ToolCall, ToolMessage

UNANSWERED = "Interrupted: it is not known whether this call ran."


def normalise(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with exactly one tool message after each call, in the order of the calls.

    A late result moves to its call, a second one and one without a call are left out, a missing one is said to be
    unknown. The assistant message is never left out. Of two calls of one id in a message, the second gets another.
    Normalising twice gives the same list.
    """
    out: list[Message] = []
    messages = [_distinct(message) for message in messages]
    answers = _answers(messages)
    for at, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            out.append(message)
            out.extend(answers.get(at, ()))
    return out


def _distinct(message: Message) -> Message:
    """The message with calls of different ids."""
    if not isinstance(message, AssistantMessage):
        return message
    taken = {call.id for call in message.calls}
    if len(taken) == len(message.calls):
        return message
    seen: set[str] = set()
    return AssistantMessage(
        tuple(_renamed(part, seen, taken) if isinstance(part, ToolCall) else part for part in message.parts),
        message.model,
        message.incomplete,
    )


def _renamed(call: ToolCall, seen: set[str], taken: set[str]) -> ToolCall:
    """The call, with an id of its own if its id was seen before."""
    if call.id in seen:
        fresh = next(name for number in count(2) if (name := f"{call.id}_{number}") not in taken)
        taken.add(fresh)
        return msgspec.structs.replace(call, id=fresh)
    seen.add(call.id)
    return call


def _answers(messages: Sequence[Message]) -> dict[int, list[Message]]:
    """The tool messages of each message with calls, by its place; one pass from the end, however long the history."""
    answers: dict[int, list[Message]] = {}
    results: dict[str, tuple[int, ToolMessage]] = {}  # the nearest one behind, and its place
    used: dict[str, int] = {}  # where the id is used again
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, ToolMessage):
            results[message.call_id] = (at, message)
        elif isinstance(message, AssistantMessage) and message.calls:
            end = min(used.get(call.id, len(messages)) for call in message.calls)
            answers[at] = [_answer(call, results, end) for call in message.calls]
            used |= dict.fromkeys([call.id for call in message.calls], at)
    return answers


def _answer(call: ToolCall, results: Mapping[str, tuple[int, ToolMessage]], end: int) -> ToolMessage:
    at, found = results.get(call.id, (end, None))
    return found if found is not None and at < end else ToolMessage(call.id, call.name, UNANSWERED, True)
