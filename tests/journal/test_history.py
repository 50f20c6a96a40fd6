"""History is valid for every provider, whatever happened."""

from hypothesis import given
from hypothesis import strategies as st

from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Message, SystemMessage, Text, ToolCall, ToolMessage, UserMessage
from talaria.journal.codec import decode_entry, encode_entry
from talaria.journal.entries import (
    AnswerAccepted,
    AnswerRejected,
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    CancelRequested,
    ContextSet,
    ModelFinished,
    OutputSpec,
    Oversize,
    RunFinished,
    RunParked,
    RunResumed,
    StopRaised,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from talaria.journal.fold import apply
from talaria.journal.history import normalise
from talaria.journal.state import SessionState

KEY = SessionKey("t", "u", "-", "s")
IDS = st.sampled_from(["a", "b", "c", "d"])
RUNS = st.sampled_from(["r1", "r2"])


def check_valid(messages: list[Message]) -> None:
    """Every call has exactly one tool message, directly behind its message, in the order of the calls."""
    open_calls: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert open_calls, f"an orphan result of {message.call_id}"
            assert message.call_id == open_calls.pop(0)
            continue
        assert open_calls == []
        if isinstance(message, AssistantMessage):
            open_calls = [call.id for call in message.calls]
            assert message.calls or message.text
    assert open_calls == []


def answer(text: str, ids: list[str]) -> AssistantMessage:
    """A message that says `text` and calls the tool once for each id."""
    said = (Text(text),) if text else ()
    return AssistantMessage((*said, *(ToolCall(id_, "tool") for id_ in ids)))


def answers() -> st.SearchStrategy[AssistantMessage]:
    return st.builds(answer, st.sampled_from(["", "hello"]), st.lists(IDS, unique=True, max_size=3))


def entries() -> st.SearchStrategy[AnyEntry]:
    base = {"run": RUNS, "at": st.integers(0, 10_000)}
    asked = {"request_id": IDS, "call_id": IDS}
    return st.one_of(
        st.builds(
            TurnStarted,
            **base,
            agent=st.just("a"),
            model=st.just("m"),
            message=st.just(UserMessage((Text("q"),))),
            output=st.sampled_from([None, OutputSpec({}), OutputSpec({}, "tool")]),
        ),
        st.builds(ContextSet, **base, system=st.sampled_from(["x", "y"])),
        st.builds(
            ModelFinished, **base, round=st.integers(1, 3), epoch=st.just(1), attempt=st.just(1), message=answers()
        ),
        st.builds(
            ModelFinished,
            **base,
            round=st.integers(1, 3),
            epoch=st.just(1),
            attempt=st.just(2),
            message=st.just(AssistantMessage((Text("cut"),), incomplete=True)),
        ),
        st.builds(ToolStarted, **base, call_id=IDS, name=st.just("tool")),
        st.builds(ToolFinished, **base, call_id=IDS, name=st.just("tool"), text=st.sampled_from(["1", "2"])),
        st.builds(StopRaised, **base, call_id=IDS, message=st.just("x")),
        st.builds(
            ApprovalRequested, **base, **asked, name=st.just("tool"), arguments=st.just("{}"), expires_at=st.just(9)
        ),
        st.builds(ApprovalResolved, **base, **asked, outcome=st.sampled_from(["approved", "declined", "expired"])),
        st.builds(
            AnswerRejected,
            **base,
            round=st.just(1),
            problem=st.just("x"),
            feedback=st.sampled_from(["", "x"]),
            call_id=st.sampled_from(["", "a", "b"]),
        ),
        st.builds(
            AnswerAccepted,
            **base,
            round=st.just(1),
            text=st.sampled_from(["", "{}"]),
            call_id=st.sampled_from(["", "a", "b"]),
        ),
        st.builds(RunParked, **base, until=st.integers(0, 10_000)),
        st.builds(RunResumed, **base, why=st.sampled_from(["woken", "recovered"])),
        st.builds(CancelRequested, **base),
        st.builds(RunFinished, **base, reason=st.sampled_from(["stop", "cancelled"])),
    )


def fold(sequence: list[AnyEntry]) -> SessionState:
    state = SessionState(KEY)
    for entry in sequence:
        apply(state, entry)
    return state


@given(st.lists(entries(), max_size=40))
def test_history_is_valid_after_any_sequence_of_entries(sequence: list[AnyEntry]) -> None:
    state = SessionState(KEY)
    for entry in sequence:
        apply(state, entry)
        check_valid(state.prompt.messages)


@given(st.lists(entries(), max_size=40), st.integers(0, 40))
def test_history_only_grows_until_the_context_changes(sequence: list[AnyEntry], at: int) -> None:
    state = fold(sequence[:at])
    prompt, before = state.prompt, list(state.prompt.messages)
    for entry in sequence[at:]:
        apply(state, entry)
    if state.prompt is prompt:
        assert prompt.messages[: len(before)] == before


@given(st.lists(entries(), max_size=30))
def test_a_state_read_back_from_bytes_is_the_state_that_was(sequence: list[AnyEntry]) -> None:
    decoded = [decode_entry(encode_entry(entry)[0]) for entry in sequence]
    again = fold([entry for entry in decoded if not isinstance(entry, Oversize)])
    live = fold(sequence)
    assert again.prompt.messages == live.prompt.messages
    assert (again.seq, again.run, again.approvals, again.turns) == (live.seq, live.run, live.approvals, live.turns)


def test_late_double_and_orphan_results_of_a_stored_history_are_put_in_order() -> None:
    calls = (ToolCall("a", "search", '{"q":1}'), ToolCall("b", "search", '{"q":1}'))
    stored: list[Message] = [
        SystemMessage("You are X."),
        UserMessage((Text("go"),)),
        AssistantMessage(calls),
        ToolMessage("a", "search", "r"),
        UserMessage((Text("never mind"),)),
        ToolMessage("b", "search", "late"),
        ToolMessage("a", "search", "again"),
        AssistantMessage((Text("ok"),)),
        ToolMessage("zz", "search", "orphan"),
        UserMessage((Text("next"),)),
    ]
    before = list(stored)
    sent = normalise(stored)
    roles = [f"tool:{m.call_id}" if isinstance(m, ToolMessage) else type(m).__name__ for m in sent]
    assert roles == [
        "SystemMessage",
        "UserMessage",
        "AssistantMessage",
        "tool:a",
        "tool:b",
        "UserMessage",
        "AssistantMessage",
        "UserMessage",
    ]
    assert [m.text for m in sent if isinstance(m, ToolMessage)] == ["r", "late"]
    assert normalise(sent) == sent
    assert stored == before


messages = st.lists(
    st.one_of(
        st.just(UserMessage((Text("q"),))),
        answers().filter(lambda message: bool(message.parts)),
        st.builds(ToolMessage, IDS, st.just("tool"), st.sampled_from(["1", "2"])),
    ),
    max_size=20,
)


@given(messages)
def test_any_stored_history_becomes_valid_and_stays_so(stored: list[Message]) -> None:
    once = normalise(stored)
    check_valid(once)
    assert normalise(once) == once
    kept = [message for message in stored if not isinstance(message, ToolMessage)]
    assert [message for message in once if not isinstance(message, ToolMessage)] == kept
