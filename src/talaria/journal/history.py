"""History that a client brings along, made valid for every provider."""

from collections.abc import Sequence

from talaria.core.messages import AssistantMessage, Message, ToolMessage

UNANSWERED = "Interrupted: it is not known whether this call ran."


def normalise(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with exactly one tool message after each call, in the order of the calls.

    A late result moves to its call, a second one and one without a call are left out, a missing one is said to be
    unknown. The assistant message is never left out. Normalising twice gives the same list.
    """
    out: list[Message] = []
    for at, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            continue
        out.append(message)
        if isinstance(message, AssistantMessage) and message.calls:
            out.extend(_answers(message, messages[at + 1 :]))
    return out


def _answers(message: AssistantMessage, later: Sequence[Message]) -> list[Message]:
    found: dict[str, ToolMessage] = {}
    wanted = {call.id for call in message.calls}
    for candidate in later:
        if isinstance(candidate, AssistantMessage) and wanted & {call.id for call in candidate.calls}:
            break  # the id is used again from here on
        if isinstance(candidate, ToolMessage) and candidate.call_id in wanted:
            found.setdefault(candidate.call_id, candidate)
    return [found.get(call.id) or ToolMessage(call.id, call.name, UNANSWERED, True) for call in message.calls]
