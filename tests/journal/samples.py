"""One of every entry, with every field set."""

from talaria.core.messages import (
    AssistantMessage,
    File,
    Image,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.core.usage import Usage
from talaria.journal.entries import (
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    CancelRequested,
    ContextSet,
    ModelFinished,
    RunFinished,
    RunLimits,
    RunParked,
    RunResumed,
    StepFinished,
    StopRaised,
    ToolFinished,
    ToolStarted,
    TurnOptions,
    TurnStarted,
    VariableSet,
)
from talaria.ports.model import ToolSpec

RUN, AT = "run_1", 1_800_000_000_000
USAGE = Usage(10, 5, 2, 1, 0.25, True)
CALL = ToolCall("c1", "add", '{"a":1}', "p1", {"openai:host": {"signature": "s"}})
ANSWER = AssistantMessage((Reasoning("hm", "openai:host", {"id": "r"}), Text("你好"), CALL), "gpt-x")

ENTRIES: tuple[AnyEntry, ...] = (
    TurnStarted(
        run=RUN,
        at=AT,
        task="t",
        agent="a",
        model="gpt-x",
        message=UserMessage(
            (Text("hi"), Image("image/png", "AA==", "ref"), File("f.txt", "text/plain", "x", "ref")), "[Sent]"
        ),
        limits=RunLimits(1, 2, 3, 4.5, 5.5, 6.5, 700),
        options=TurnOptions("enabled", 0.5, 100),
        history=(SystemMessage("s"), UserMessage((Text("q"),)), ANSWER, ToolMessage("c1", "add", "3", True)),
        roles=("user",),
        secrets=("apiKey",),
        labels={"team": "x"},
        tools=("add",),
        system="persona",
        detached=False,
    ),
    ContextSet(run=RUN, at=AT, system="sys", tools=(ToolSpec("add", "Add.", {"type": "object"}),)),
    ModelFinished(
        run=RUN,
        at=AT,
        round=1,
        epoch=7,
        attempt=2,
        message=ANSWER,
        finish="tool_calls",
        usage=USAGE,
        duration_ms=12,
        cut_calls=1,
        error="stream_truncated",
        error_text="it ended",
    ),
    ToolStarted(run=RUN, at=AT, call_id="c1", name="add", round=1),
    ToolFinished(
        run=RUN, at=AT, call_id="c1", name="add", text="3", outcome="unknown", duration_ms=3, truncated=True, blob="ref"
    ),
    StopRaised(run=RUN, at=AT, call_id="c1", message="enough"),
    ApprovalRequested(
        run=RUN,
        at=AT,
        request_id="q1",
        call_id="c1",
        name="add",
        arguments="{}",
        expires_at=AT + 1,
        reason="x",
        round=1,
    ),
    ApprovalResolved(
        run=RUN,
        at=AT,
        request_id="q1",
        call_id="c1",
        outcome="edited",
        by="bob",
        arguments="{}",
        comment="c",
        remember=True,
    ),
    StepFinished(run=RUN, at=AT, step=2, message=ANSWER, usage=USAGE),
    VariableSet(run=RUN, at=AT, name="cart", value={"items": [1, 2.5, None, "你好"]}),
    RunParked(run=RUN, at=AT, until=AT + 5),
    RunResumed(run=RUN, at=AT, why="recovered"),
    CancelRequested(run=RUN, at=AT, why="superseded", by="bob"),
    RunFinished(run=RUN, at=AT, reason="error", usage=USAGE, error="internal", message="m"),
)
