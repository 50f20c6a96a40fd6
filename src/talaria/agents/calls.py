"""The calls of an answer, as they go on record: with ids that are unique in the run, and names that it knows."""

import msgspec

from talaria.agents.open_run import OpenRun
from talaria.core.ids import new_id
from talaria.core.messages import AssistantMessage, AssistantPart, ToolCall
from talaria.journal.state import RunState
from talaria.tools.nearest import meant


def settle_calls(message: AssistantMessage, session: OpenRun) -> AssistantMessage:
    """Give every call a unique id, and the tool's own name where it is written in another way."""
    return unique_ids(known_names(message, session), session.run)


def known_names(message: AssistantMessage, session: OpenRun) -> AssistantMessage:
    """Give calls the names of the tools that they mean; what the model wrote is kept beside it."""
    tools, answers_by = session.tools, session.run.answers_by
    if all(call.name in tools or call.name == answers_by for call in message.calls):
        return message
    names = [*tools, *([answers_by] if answers_by else [])]
    parts = tuple(_named(part, names) if isinstance(part, ToolCall) else part for part in message.parts)
    return AssistantMessage(parts, message.model, message.incomplete)


def _named(call: ToolCall, names: list[str]) -> ToolCall:
    name = call.name if call.name in names else meant(call.name, names)
    if name is None or name == call.name:
        return call
    return msgspec.structs.replace(call, name=name, written=call.name)


def unique_ids(message: AssistantMessage, run: RunState) -> AssistantMessage:
    """Give every call an id that this run has not seen; the provider's own is kept to be sent back."""
    ids = [call.id for call in message.calls]
    if all(ids) and len(set(ids)) == len(ids) and run.call_ids.isdisjoint(ids):
        return message
    seen = set(run.call_ids)
    parts: list[AssistantPart] = []
    for part in message.parts:
        fresh = part
        if isinstance(part, ToolCall):
            if not part.id or part.id in seen:
                fresh = msgspec.structs.replace(part, id=new_id("call"), provider_id=part.provider_id or part.id)
            seen.add(part.id)
        parts.append(fresh)
    return AssistantMessage(tuple(parts), message.model, message.incomplete)
