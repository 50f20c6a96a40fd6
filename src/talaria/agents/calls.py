"""The calls of an answer, as they go on record: with ids that are unique in the run, and names that it knows."""

from collections.abc import Iterable, Sequence

import msgspec

from talaria.agents.open_run import OpenRun
from talaria.core.ids import new_id
from talaria.core.messages import AssistantMessage, AssistantPart, ToolCall
from talaria.journal.state import RunState
from talaria.tools.nearest import meant


def settle_calls(message: AssistantMessage, session: OpenRun) -> AssistantMessage:
    """Give every call a unique id, and the tool's own name where it is written in another way."""
    calls = message.calls
    if not calls:
        return message
    if not _have_known_names(calls, session):
        message = _with_known_names(message, session)
    return message if _have_unique_ids(calls, session.run) else _with_unique_ids(message, session.run)


def by_client(message: AssistantMessage, session: OpenRun) -> tuple[str, ...]:
    """The ids of the calls that the caller runs."""
    if message.incomplete:
        return ()
    tools = session.tools
    return tuple(call.id for call in message.calls if call.name in tools and tools[call.name].by_client)


def _have_known_names(calls: Iterable[ToolCall], session: OpenRun) -> bool:
    tools, answers_by = session.tools, session.run.answers_by
    unknown = [call for call in calls if call.name not in tools and call.name != answers_by]
    return not unknown


def _have_unique_ids(calls: Sequence[ToolCall], run: RunState) -> bool:
    ids = {call.id for call in calls}
    return len(ids) == len(calls) and "" not in ids and run.call_ids.isdisjoint(ids)


def _with_known_names(message: AssistantMessage, session: OpenRun) -> AssistantMessage:
    """Give calls the names of the tools that they mean; what the model wrote is kept beside it."""
    tools, answers_by = session.tools, session.run.answers_by
    names = [*tools, *([answers_by] if answers_by else [])]
    parts = tuple(_named(part, names) if isinstance(part, ToolCall) else part for part in message.parts)
    return AssistantMessage(parts, message.model, message.incomplete)


def _named(call: ToolCall, names: list[str]) -> ToolCall:
    name = call.name if call.name in names else meant(call.name, names)
    if name is None or name == call.name:
        return call
    return msgspec.structs.replace(call, name=name, written=call.name)


def _with_unique_ids(message: AssistantMessage, run: RunState) -> AssistantMessage:
    """Give every call an id that this run has not seen; the provider's own is kept to be sent back."""
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
