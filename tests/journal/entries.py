"""Ready-made entries of every type, and strategies that make sequences of them."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from talaria.core.external import ExternalTool
from talaria.core.ids import SessionKey
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
from talaria.core.plan import Step
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.core.usage import Usage
from talaria.journal.entries import (
    AgentSaid,
    AnswerAccepted,
    AnswerRejected,
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    ArtifactSaved,
    Audited,
    CancelRequested,
    ContextSet,
    Emitted,
    ModelFinished,
    PlanSet,
    RunFinished,
    RunParked,
    RunResumed,
    SessionExpired,
    StepFinished,
    StopRaised,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnStarted,
    VariableSet,
)
from talaria.journal.state import SessionState
from talaria.journal.turn import OutputSpec, RunLimits, TurnOptions
from talaria.ports.model import ToolSpec

KEY = SessionKey("acme", "ann", "-", "s-1")

EXTERNAL = ExternalTool(
    "dify",
    "ask",
    "Asks.",
    {"type": "object"},
    "https://x/v1",
    "POST",
    {"Accept": "text/plain"},
    ("X-Key",),
    "chat",
    False,
)

FULL: list[AnyEntry] = [
    TurnStarted(
        run="run_1",
        at=1_800_000_000_000,
        agent="clerk",
        model="gpt-x",
        message=UserMessage(
            (Text('Hi\n"there" \N{SNOWMAN}'), Image("image/png", data="aGk="), File("a.txt", text="A")), "[Sent]"
        ),
        limits=RunLimits(10, 5, 3, 60.0, 30.0, 20.0, 1000, 7),
        options=TurnOptions("enabled", 0.5, 100),
        history=(
            SystemMessage("Be kind."),
            UserMessage((Text("Look"),)),
            AssistantMessage((Text("So"), ToolCall("a", "look", '{"x":1}'))),
            ToolMessage("a", "look", "seen", is_error=True),
        ),
        roles=("user",),
        secrets=("apiKey",),
        labels={"team": "a"},
        tools=("look",),
        system="Persona",
        detached=False,
        output=OutputSpec({"type": "object"}, "final_answer"),
        bypass=True,
        subagents=(Subagent("helper", "Helps.", "You help.", ("look",), ("edit",), ("math",), "gpt-y", 3),),
        skills=(Skill("pdf", "Reads PDFs.", "ab12", ("Bash(pdftotext *)",), "Needs poppler"),),
        external=(EXTERNAL,),
    ),
    ContextSet(
        run="run_1",
        at=1,
        system="You are",
        tools=(ToolSpec("look", "Look.", {"type": "object"}),),
        memory="- /memories/a.md",
    ),
    ModelFinished(
        run="run_1",
        at=2,
        task="sub_1",
        round=1,
        epoch=16777217,
        attempt=2,
        message=AssistantMessage(
            (
                Reasoning("Hm.", "deepseek", {"signature": "abc"}),
                Text("So", {"openai": {"id": "msg_1"}}),
                ToolCall("call_1", "look", '{"x": 1}', "p1", {"signature": "x"}, "functions.look"),
            ),
            "gpt-x",
        ),
        finish="tool_calls",
        usage=Usage(1, 2, 3, 4, 0.5, estimated=True),
        duration_ms=12,
        cut_calls=1,
        downgraded=("gpt-x takes no temperature.",),
        reasoning_refused=True,
        since=1,
        by_client=("call_1",),
    ),
    ToolStarted(run="run_1", at=3, call_id="call_1", name="look", round=1),
    ToolFinished(
        run="run_1",
        at=4,
        call_id="call_1",
        name="look",
        text="seen",
        outcome="error",
        duration_ms=5,
        truncated=True,
        blob="f" * 64,
        untrusted=True,
        images=(Image("image/png", "QUJD"),),
    ),
    StopRaised(run="run_1", at=5, call_id="call_1", message="stop"),
    ApprovalRequested(
        run="run_1",
        at=6,
        request_id="ask_1",
        call_id="call_1",
        name="look",
        arguments="{}",
        expires_at=99,
        reason="outcome_unknown",
        round=1,
    ),
    ApprovalResolved(
        run="run_1",
        at=7,
        request_id="ask_1",
        call_id="call_1",
        outcome="edited",
        by="bob",
        arguments='{"x":2}',
        comment="no",
        remember=True,
        via="link",
        answer="Blue",
        role="boss",
        is_error=True,
    ),
    AnswerRejected(
        run="run_1", at=8, round=1, problem="too much", feedback="Too much!", rewind=(4, 3, 2, 1), call_id="call_1"
    ),
    AnswerAccepted(
        run="run_1", at=8, round=1, text="{}", rewind=(4, 3, 2, 1), call_id="call_1", repairs=("Markdown fence",)
    ),
    AgentSaid(run="run_1", at=1_800_000_000_000, kind="custom", name="progress", data={"done": 1}),
    StepFinished(
        run="run_1",
        at=1_800_000_000_000,
        step=2,
        message=AssistantMessage((Text("aside"),), "gpt-x"),
        usage=Usage(1, 2),
        downgraded=("gpt-x sees no images.",),
    ),
    SessionExpired(run="run_1", at=1_800_000_000_000),
    PlanSet(
        run="run_1",
        at=1_800_000_000_000,
        task="clerk:call_1",
        call_id="call_2",
        plan=(Step("Read it", "in_progress", "Reading it"), Step("Say it")),
    ),
    VariableSet(run="run_1", at=1_800_000_000_000, name="cart", value={"items": [1, 2.5, None, "你好"]}),
    ArtifactSaved(
        run="run_1",
        at=5,
        call_id="call_1",
        artifact_id="art_1",
        name="图.png",
        media_type="image/png",
        size=68,
        url="/ai-api/download/art_1",
    ),
    RunParked(run="run_1", at=8, until=99),
    RunResumed(run="run_1", at=9, why="woken"),
    CancelRequested(run="run_1", at=10, why="superseded", by="ann"),
    Audited(
        run="run_1",
        at=10,
        action="tool.permission",
        outcome="deny",
        subject="refund",
        call_id="call_1",
        rule="policy.rules[0]",
        by="ann",
        detail="amount above 100",
    ),
    Emitted(run="run_1", at=4, call_id="call_1", name="progress", data={"done": [1, 2.5, None]}),
    ToolOutput(run="run_1", at=4, call_id="call_1", text="half\n"),
    TaskStarted(
        run="run_1",
        at=11,
        task="helper:call_2",
        call_id="call_2",
        prompt="Do it.",
        model="gpt-y",
        system="You help.",
        tools=(ToolSpec("look", "Look.", {"type": "object"}),),
        limits=RunLimits(3),
        description="do it",
        parent="boss:call_1",
        depth=2,
        background=True,
    ),
    TaskFinished(
        run="run_1", at=11, task="helper:call_2", reason="error", usage=Usage(1, 2), error="internal", message="sorry"
    ),
    RunFinished(run="run_1", at=11, reason="error", usage=Usage(1, 2), error="internal", message="sorry", answer="{}"),
]
"""One entry of every type, every field set to something."""

RUNS = ["r1", "r2"]
CALLS = ["a", "b", "c"]
runs = st.sampled_from(RUNS)
calls = st.sampled_from(CALLS)
tasks = st.sampled_from(["t:a", "t:b"])
asks = st.sampled_from(["q1", "q2", "q3"])


def _message(ids: list[str], text: str, incomplete: bool) -> AssistantMessage:
    parts: list[Any] = [Text(text)] if text else []
    return AssistantMessage((*parts, *(ToolCall(id_, f"tool {id_}") for id_ in ids)), "m", incomplete)


messages = st.builds(_message, st.lists(calls, unique=True, max_size=3), st.sampled_from(["", "text"]), st.booleans())
outcomes = st.sampled_from(["approved", "edited", "answered", "declined", "expired", "cancelled", "superseded"])
errors = st.sampled_from(["", "stream_truncated"])

any_entry: st.SearchStrategy[AnyEntry] = st.one_of(
    st.builds(
        TurnStarted,
        run=runs,
        at=st.just(0),
        agent=st.just("a"),
        model=st.just("m"),
        message=st.just(UserMessage((Text("hi"),))),
        limits=st.builds(RunLimits, st.integers(1, 5), st.integers(1, 3), st.integers(1, 4)),
        output=st.sampled_from([None, OutputSpec({}), OutputSpec({}, "tool a")]),
    ),
    st.builds(ContextSet, run=runs, at=st.just(0), system=st.sampled_from(["x", "y"])),
    st.builds(
        ModelFinished,
        run=runs,
        at=st.just(0),
        by_client=st.sampled_from([(), ("a",), ("a", "b")]),
        round=st.integers(1, 4),
        epoch=st.just(1),
        attempt=st.integers(1, 9),
        message=messages,
        error=errors,
    ),
    st.builds(ToolStarted, run=runs, at=st.just(0), call_id=calls, name=st.just("t")),
    st.builds(
        ToolFinished,
        run=runs,
        at=st.just(0),
        call_id=calls,
        name=st.just("t"),
        text=st.just("done"),
        untrusted=st.booleans(),
        images=st.sampled_from(((), (Image("image/png", "QUJD"),))),
    ),
    st.builds(Emitted, run=runs, at=st.just(0), call_id=calls, name=st.just("n"), data=st.just({"a": 1})),
    st.builds(ToolOutput, run=runs, at=st.just(0), call_id=calls, text=st.just("out")),
    st.builds(
        ArtifactSaved,
        run=runs,
        at=st.just(0),
        call_id=calls,
        artifact_id=st.just("art_1"),
        name=st.just("a.txt"),
        media_type=st.just("text/plain"),
        size=st.just(1),
        url=st.just("/x"),
    ),
    st.builds(StopRaised, run=runs, at=st.just(0), call_id=calls, message=st.just("stop")),
    st.builds(
        ApprovalRequested,
        run=runs,
        at=st.just(0),
        request_id=asks,
        call_id=calls,
        name=st.just("t"),
        arguments=st.just("{}"),
        expires_at=st.just(9),
    ),
    st.builds(ApprovalResolved, run=runs, at=st.just(0), request_id=asks, call_id=calls, outcome=outcomes),
    st.builds(
        AnswerRejected,
        run=runs,
        at=st.just(0),
        round=st.integers(1, 4),
        problem=st.just("x"),
        feedback=st.sampled_from(["", "x"]),
        call_id=st.sampled_from(["", *CALLS]),
    ),
    st.builds(
        AnswerAccepted,
        run=runs,
        at=st.just(0),
        round=st.integers(1, 4),
        text=st.sampled_from(["", "{}"]),
        call_id=st.sampled_from(["", *CALLS]),
    ),
    st.builds(SessionExpired, run=runs, at=st.just(0)),
    st.builds(
        PlanSet, run=runs, at=st.just(0), call_id=calls, plan=st.sampled_from([(), (Step("Do", "in_progress"),)])
    ),
    st.builds(VariableSet, run=runs, at=st.just(0), name=st.just("cart"), value=st.sampled_from([1, None])),
    st.builds(RunParked, run=runs, at=st.just(0), until=st.just(9)),
    st.builds(RunResumed, run=runs, at=st.just(0), why=st.just("woken")),
    st.builds(CancelRequested, run=runs, at=st.just(0)),
    st.builds(Audited, run=runs, at=st.just(0), action=st.just("hitl.bypassed"), outcome=st.just("refused")),
    st.builds(
        TaskStarted,
        run=runs,
        at=st.just(0),
        task=tasks,
        call_id=calls,
        prompt=st.just("x"),
        model=st.just("m"),
        system=st.just("s"),
    ),
    st.builds(TaskFinished, run=runs, at=st.just(0), task=tasks, reason=st.just("stop")),
    st.builds(ToolFinished, run=runs, at=st.just(0), task=tasks, call_id=calls, name=st.just("t"), text=st.just("x")),
    st.builds(RunFinished, run=runs, at=st.just(0), reason=st.just("stop")),
)
"""Entries that make no sense together: whatever the journal holds, the fold must hold."""


def picture(state: SessionState) -> tuple[Any, ...]:
    """All that a state holds, to compare."""
    names = (
        *("approvals", "remembered", "wholes", "since", "first_words", "turns", "created", "last_at"),
        "untrusted",
    )
    run = state.run
    return (
        state.seq,
        run if run is None else msgspec.structs.replace(run, tasks={}),
        *(getattr(state, name) for name in names),
        {} if run is None else {name: picture(task) for name, task in run.tasks.items()},
        state.prompt.system,
        state.prompt.tools,
        tuple(state.prompt.messages),
    )
