"""The event stream as a view of the entries: the same events and positions, live or replayed."""

from datetime import UTC, datetime

from talaria.core.events import START, CallInfo, ChatEvent, Position, ResultInfo, UsageInfo, rewind_event, task_event
from talaria.core.messages import Reasoning, Text
from talaria.core.plan import wire_plan
from talaria.journal.entries import (
    AgentSaid,
    AnswerAccepted,
    AnswerRejected,
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    ArtifactSaved,
    Emitted,
    ModelFinished,
    PlanSet,
    RunFinished,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnStarted,
)
from talaria.journal.questions import CLIENT, QUESTION, read_question
from talaria.journal.visible import is_visible

Placed = tuple[Position, ChatEvent]


def entry_events(seq: int, session_id: str, entry: AnyEntry) -> list[Placed]:
    """Return what a client sees of the entry with this seq, streamed text left out (see `text_events`)."""
    events = _events(session_id, entry)
    if entry.task:
        events = [task_event(entry.task, event) for event in events]
    return [((seq, 0, 0, at), event) for at, event in enumerate(events)]


def _events(session_id: str, entry: AnyEntry) -> list[ChatEvent]:
    match entry:
        case TurnStarted() | TaskStarted():
            return [_start_event(session_id, entry)]
        case ModelFinished():
            return [_calls_event(entry)] if is_visible(entry) else []
        case AgentSaid():
            return [ChatEvent(entry.kind, entry.data, name=entry.name or None)]
        case ToolStarted() | Emitted() | ToolOutput() | PlanSet() | ToolFinished() | ArtifactSaved():
            return [_call_event(entry)]
        case ApprovalRequested():
            return [_request_event(entry)]
        case ApprovalResolved():
            return [ChatEvent("approval_resolved", entry.request_id, reason=entry.outcome)]
        case RunFinished() | TaskFinished():
            return [_end_event(entry)]
        case AnswerRejected() | AnswerAccepted():
            return _verdict_events(entry)
        case _:
            return []


def _calls_event(entry: ModelFinished) -> ChatEvent:
    """The model's calls, less those that the caller runs: it is told of each when that may run."""
    calls = [call for call in entry.message.calls if call.id not in entry.by_client]
    infos = tuple(CallInfo(call.id, call.name, call.arguments) for call in calls)
    return ChatEvent("tool_call", tool_calls=infos, step=entry.round)


def _start_event(session_id: str, entry: TurnStarted | TaskStarted) -> ChatEvent:
    if isinstance(entry, TurnStarted):
        return ChatEvent("run_started", entry.run, session_id=session_id, model_name=entry.model)
    return ChatEvent("run_started", entry.run, tool_call_id=entry.call_id, model_name=entry.model)


def _end_event(entry: RunFinished | TaskFinished) -> ChatEvent:
    usage = UsageInfo.of(entry.usage)
    if entry.reason == "error":
        return ChatEvent("error", entry.message, reason=entry.error, usage=usage)
    answer = entry.answer if isinstance(entry, RunFinished) else ""
    return ChatEvent("finish", answer or None, reason=entry.reason, usage=usage)


def _verdict_events(entry: AnswerRejected | AnswerAccepted) -> list[ChatEvent]:
    events = [rewind_event(entry.run, entry.rewind)] if entry.rewind != START else []
    if isinstance(entry, AnswerAccepted) and is_visible(entry):
        events.append(ChatEvent("token", entry.text))
    return events


def _request_event(entry: ApprovalRequested) -> ChatEvent:
    when = iso_time(entry.expires_at)
    if entry.reason == QUESTION:
        asked = read_question(entry.arguments)
        choices = asked.choices or None
        return ChatEvent("question", entry.request_id, question=asked.question, choices=choices, expires_at=when)
    call = CallInfo(entry.call_id, entry.name, entry.arguments)
    if entry.reason == CLIENT:
        return ChatEvent("tool_call", entry.request_id, tool_calls=(call,), step=entry.round, expires_at=when)
    return ChatEvent("approval_request", entry.request_id, tool_calls=(call,), expires_at=when, reason=entry.reason)


def _call_event(entry: ToolStarted | Emitted | ToolOutput | PlanSet | ToolFinished | ArtifactSaved) -> ChatEvent:
    match entry:
        case ToolStarted():
            return ChatEvent("tool_started", tool_calls=(CallInfo(entry.call_id, entry.name),), step=entry.round)
        case Emitted():
            return ChatEvent("custom", entry.data, name=entry.name)
        case ToolOutput():
            return ChatEvent("tool_output", entry.text, tool_call_id=entry.call_id)
        case ArtifactSaved():
            return ChatEvent(
                "artifact",
                entry.artifact_id,
                name=entry.name,
                tool_call_id=entry.call_id,
                mime_type=entry.media_type,
                size=entry.size,
                url=entry.url,
            )
        case PlanSet():
            return ChatEvent("todo", wire_plan(entry.plan), tool_call_id=entry.call_id)
        case ToolFinished():
            result = ResultInfo(
                entry.call_id, entry.name, entry.text, entry.outcome != "ok", entry.duration_ms, entry.truncated
            )
            return ChatEvent("tool_result", tool_results=(result,))


def text_events(seq: int, entry: ModelFinished, said: int = 0) -> list[Placed]:
    """Return the message's reasoning and text as events, less the first `said` code points.

    Those of a subagent have no place of their own: see `entry_events` for what they stand among.
    """
    out: list[Placed] = []
    if not entry.attempt:
        return out
    offset = 0
    for part in entry.message.parts:
        if not isinstance(part, (Text, Reasoning)) or not part.text:
            continue
        begin, offset = offset, offset + len(part.text)
        if offset > said:
            kind = "token" if isinstance(part, Text) else "reasoning"
            text = part.text[max(0, said - begin) :]
            out.append(((base(seq, entry), entry.epoch, entry.attempt, offset), ChatEvent(kind, text)))
    return out


def base(seq: int, entry: ModelFinished) -> int:
    """The seq after which the text of a message stands."""
    return entry.since or seq - 1


def last_position(seq: int, entry: AnyEntry) -> Position | None:
    """Where the last event of an entry stands, texts included; None if clients get none. Rewinds name such a place."""
    if is_visible(entry):
        is_second = isinstance(entry, AnswerAccepted) and entry.rewind != START
        return (seq, 0, 0, int(is_second))
    if isinstance(entry, ModelFinished) and entry.attempt and not entry.task:
        said = sum(len(part.text) for part in entry.message.parts if isinstance(part, (Text, Reasoning)))
        return (base(seq, entry), entry.epoch, entry.attempt, said) if said else None
    return None


def before_text(seq: int, entry: ModelFinished, anchor: Position) -> Position:
    """Where the event before a message's text stands: the end of the reasoning that came first, or `anchor`."""
    thought = 0
    for part in entry.message.parts:
        if isinstance(part, Text) and part.text:
            break
        thought += len(part.text) if isinstance(part, Reasoning) else 0
    return (base(seq, entry), entry.epoch, entry.attempt, thought) if thought else anchor


def iso_time(ms: int) -> str:
    """A time in ms as ISO 8601, UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
