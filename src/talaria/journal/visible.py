"""What of a session clients see."""

from talaria.core.events import START
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

_VISIBLE = frozenset(
    (
        TurnStarted,
        AgentSaid,
        ToolStarted,
        Emitted,
        ToolOutput,
        ToolFinished,
        ArtifactSaved,
        PlanSet,
        ApprovalRequested,
        ApprovalResolved,
        TaskStarted,
        TaskFinished,
        RunFinished,
    )
)


def is_visible(entry: AnyEntry) -> bool:
    """Whether clients get events of the entry itself (one, or two of a mended answer), streamed text aside."""
    if type(entry) in _VISIBLE:
        return True
    if isinstance(entry, ModelFinished):
        return len(entry.message.calls) > len(entry.by_client) and not entry.message.incomplete
    if isinstance(entry, (AnswerRejected, AnswerAccepted)):
        return entry.rewind != START or (bool(entry.call_id) and isinstance(entry, AnswerAccepted))
    return False
