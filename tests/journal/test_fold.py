"""The fold: whatever the journal holds, the history is one that every provider takes."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.messages import AssistantMessage, Message, Reasoning, Text, ToolCall, ToolMessage, UserMessage
from talaria.journal.codec import decode_entry, encode_entry
from talaria.journal.entries import (
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    ContextSet,
    ModelFinished,
    Oversize,
    RunFinished,
    RunParked,
    RunResumed,
    SessionExpired,
    TurnStarted,
    VariableSet,
)
from talaria.journal.fold import apply
from talaria.journal.history import UNANSWERED, normalise
from talaria.journal.state import SessionState
from tests.journal.entries import FULL, KEY, any_entry, picture
from tests.runtime.world import assert_valid

sequences = st.lists(any_entry, max_size=40).map(lambda entries: [FULL[0], *entries])


def folded(entries: list[AnyEntry]) -> SessionState:
    state = SessionState(KEY)
    for entry in entries:
        apply(state, entry)
    return state


@given(sequences)
def test_the_history_is_valid_after_every_entry(entries: list[AnyEntry]) -> None:
    state = SessionState(KEY)
    for entry in entries:
        apply(state, entry)
        assert_valid(state.prompt.messages)
        run = state.run
        assert run is not None
        if run.finished is not None:
            assert not run.calls


@given(sequences)
def test_the_same_entries_give_the_same_state_read_back_or_not(entries: list[AnyEntry]) -> None:
    again: list[AnyEntry] = []
    for entry in entries:
        data, blob = encode_entry(entry)
        read = decode_entry(data if blob is None else blob[1])
        assert not isinstance(read, Oversize)
        again.append(read)
    assert picture(folded(entries)) == picture(folded(again))


@given(sequences, st.integers(0, 40))
def test_the_history_only_grows_while_the_beginning_stays(entries: list[AnyEntry], at: int) -> None:
    state = folded(entries[:at])
    prompt, before = state.prompt, list(state.prompt.messages)
    for entry in entries[at:]:
        apply(state, entry)
    if state.prompt is prompt:
        assert prompt.messages[: len(before)] == before


@given(sequences)
def test_what_is_said_about_a_run_that_is_over_changes_nothing(entries: list[AnyEntry]) -> None:
    state = folded([*entries, RunFinished(run=folded(entries).run.id, at=0, reason="stop")])  # pyright: ignore[reportOptionalMemberAccess]
    before = picture(state)[1:]
    for entry in entries:
        if not isinstance(entry, TurnStarted | SessionExpired | ContextSet):
            apply(state, entry)
    assert picture(state)[1:8] == before[:7]


def turn(run: str, at: int = 0) -> TurnStarted:
    return TurnStarted(run=run, at=at, agent="a", model="m", message=UserMessage((Text("hi"),)))


def test_time_parked_is_not_time_running() -> None:
    state = folded(
        [turn("r", 1000), RunParked(run="r", at=3000, until=99_000), RunResumed(run="r", at=50_000, why="woken")]
    )
    assert state.run is not None
    assert state.run.ran(51_000) == 3.0
    assert state.run.ends_at == 50_000 + 600_000 - 2_000


def test_of_a_run_whose_owner_died_the_time_until_its_last_entry_counts() -> None:
    said = ModelFinished(run="r", at=4000, round=1, epoch=1, attempt=1, message=AssistantMessage((ToolCall("a", "t"),)))
    state = folded([turn("r", 1000), said, RunResumed(run="r", at=900_000, why="recovered")])
    assert state.run is not None
    assert state.run.ran(901_000) == 4.0


def test_a_changed_beginning_drops_signed_reasoning_before_it_as_a_whole() -> None:
    signed = AssistantMessage((Reasoning("Hm.", "x", {"signature": "s"}), Reasoning("Plain."), Text("So.")), "m")
    said = ModelFinished(run="r", at=0, round=1, epoch=1, attempt=1, message=signed)
    state = folded([turn("r"), said])
    assert state.prompt.messages[-1] == signed
    before = state.prompt
    apply(state, ContextSet(run="r", at=0, system="new"))
    assert state.prompt is not before
    assert state.prompt.messages[-1] == AssistantMessage((Reasoning("Plain."), Text("So.")), "m")
    assert before.messages[-1] == signed


def test_a_cut_off_message_keeps_its_text_only() -> None:
    cut = AssistantMessage((Reasoning("Hm."), Text("So")), "m", incomplete=True)
    state = folded([turn("r"), ModelFinished(run="r", at=0, round=1, epoch=1, attempt=1, message=cut)])
    assert state.prompt.messages[-1] == AssistantMessage((Text("So"),), "m", incomplete=True)


def test_consent_to_run_a_call_again_is_no_consent_to_later_calls() -> None:
    for reason, remembered in (("declared", ["pay"]), ("outcome_unknown", list[str]())):
        said = AssistantMessage((ToolCall("a", "pay"),))
        state = folded(
            [
                turn("r"),
                ModelFinished(run="r", at=0, round=1, epoch=1, attempt=1, message=said),
                ApprovalRequested(
                    run="r", at=0, request_id="q", call_id="a", name="pay", arguments="{}", expires_at=9, reason=reason
                ),
                ApprovalResolved(run="r", at=0, request_id="q", call_id="a", outcome="approved", remember=True),
            ]
        )
        assert sorted(state.remembered) == remembered


def test_a_session_is_called_after_its_first_question() -> None:
    long = TurnStarted(run="r", at=0, agent="a", model="m", message=UserMessage((Text("x y\n  z " * 40),)))
    state = folded([long, turn("s")])
    assert state.title.startswith("x y z x y z")
    assert len(state.title) == 80
    assert state.title.endswith("…")


# History that a client brings along

ids = st.sampled_from(["a", "b", "c"])
history: st.SearchStrategy[list[Message]] = st.lists(
    st.one_of(
        st.just(UserMessage((Text("u"),))),
        st.lists(ids, unique=True, max_size=3).map(
            lambda calls: AssistantMessage((Text("t"), *(ToolCall(call, "n") for call in calls)))
        ),
        st.builds(ToolMessage, ids, st.just("n"), st.sampled_from(["one", "two"])),
    ),
    max_size=12,
)


@given(history)
def test_any_history_is_made_valid_and_twice_is_the_same(messages: list[Message]) -> None:
    once = normalise(messages)
    assert_valid(once)
    assert normalise(once) == once
    kept = [message for message in messages if not isinstance(message, ToolMessage)]
    assert [message for message in once if not isinstance(message, ToolMessage)] == kept


def test_late_second_and_orphan_results() -> None:
    question = UserMessage((Text("go"),))
    asked = AssistantMessage((ToolCall("a", "search"), ToolCall("b", "search"), ToolCall("c", "search")))
    never_mind, fine, then = (
        UserMessage((Text("never mind"),)),
        AssistantMessage((Text("ok"),)),
        UserMessage((Text("next"),)),
    )
    messages: list[Message] = [
        question,
        asked,
        ToolMessage("a", "search", "r"),
        never_mind,
        ToolMessage("b", "search", "late"),
        ToolMessage("a", "search", "again"),
        fine,
        ToolMessage("zz", "search", "orphan"),
        then,
    ]
    assert normalise(messages) == [
        question,
        asked,
        ToolMessage("a", "search", "r"),
        ToolMessage("b", "search", "late"),
        ToolMessage("c", "search", UNANSWERED, is_error=True),
        never_mind,
        fine,
        then,
    ]


def test_the_state_is_of_values_that_can_be_compared() -> None:
    assert picture(folded(FULL)) == picture(folded(FULL))
    assert msgspec.json.encode(FULL)


def test_variables_are_set_and_removed_whatever_the_run_does() -> None:
    def is_set(value: Any) -> VariableSet:
        return VariableSet(run="run_1", at=1, name="cart", value=value)

    assert folded([FULL[0], is_set(1), is_set([2])]).variables == {"cart": [2]}
    assert folded([FULL[0], is_set(1), is_set(None)]).variables == {}
    assert folded([FULL[0], is_set(1), FULL[0]]).variables == {"cart": 1}


def test_two_calls_of_one_id_in_a_message_get_two() -> None:
    asked = AssistantMessage((ToolCall("a", "search"), ToolCall("a", "buy"), ToolCall("a_2", "sell")))
    once = normalise([asked, ToolMessage("a", "search", "found")])
    first, second, third = (message for message in once if isinstance(message, ToolMessage))
    assert isinstance(once[0], AssistantMessage)
    assert [call.id for call in once[0].calls] == ["a", "a_3", "a_2"]
    assert (first.call_id, first.text) == ("a", "found")
    assert (second.call_id, third.call_id) == ("a_3", "a_2")
    assert normalise(once) == once
