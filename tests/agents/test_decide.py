"""What comes next is a pure function of the state and the time."""

from collections.abc import Sequence

import msgspec
import pytest

from talaria.agents.decide import Action, CallModel, Expire, JudgeAnswer, Park, RunTools, Stop, decide
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Text, ToolCall, UserMessage
from talaria.journal.entries import (
    AnswerAccepted,
    AnswerRejected,
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    CancelRequested,
    ModelFinished,
    RunParked,
    RunResumed,
    StopRaised,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from talaria.journal.fold import apply
from talaria.journal.state import SessionState
from talaria.journal.turn import OutputSpec, RunLimits
from talaria.ports.model import Finish

R = "r"
LIMITS = RunLimits(max_calls=3, max_calls_per_tool=2, max_rounds=3, run_timeout=10)
STARTED = TurnStarted(run=R, at=0, agent="a", model="m", message=UserMessage((Text("q"),)), limits=LIMITS)


def calls(*names: str, round_: int = 1) -> ModelFinished:
    """The model wants these tools; call ids are name and place."""
    parts = tuple(ToolCall(f"{name}{round_}{at}", name) for at, name in enumerate(names))
    return ModelFinished(run=R, at=1, round=round_, epoch=1, attempt=round_, message=AssistantMessage(parts))


def says(text: str, finish: Finish = "stop", *, round_: int = 1, incomplete: bool = False) -> ModelFinished:
    parts = (Text(text),) if text else ()
    message = AssistantMessage(parts, incomplete=incomplete)
    return ModelFinished(run=R, at=1, round=round_, epoch=1, attempt=round_, message=message, finish=finish)


def asked(call_id: str, expires_at: int = 5_000) -> ApprovalRequested:
    return ApprovalRequested(
        run=R, at=1, request_id=f"q-{call_id}", call_id=call_id, name="x", arguments="{}", expires_at=expires_at
    )


def done(call_id: str) -> ToolFinished:
    return ToolFinished(run=R, at=2, call_id=call_id, name="x", text="ok")


def state(entries: Sequence[AnyEntry]) -> SessionState:
    made = SessionState(SessionKey("t", "u", "-", "s"))
    for entry in (STARTED, *entries):
        apply(made, entry)
    return made


STOPS: dict[str, tuple[list[AnyEntry], Action]] = {
    "a new run asks the model": ([], CallModel()),
    "an answer ends the run": ([says("hi")], Stop("stop")),
    "an answer at the token limit says so": ([says("hi", "length")], Stop("length")),
    "a filtered answer says so": ([says("", "content_filter")], Stop("content_filter")),
    "a finish reason without calls is a stop": ([says("hi", "tool_calls")], Stop("stop")),
    "an empty answer is asked for once more": ([says("")], CallModel()),
    "two empty answers are an error": (
        [says(""), says("", round_=2)],
        Stop(error="output_invalid", message="the model gave an empty answer twice; ask again or take another"),
    ),
    "results go back to the model": ([calls("x"), done("x10")], CallModel()),
    "the last round may not end in another": (
        [calls("x"), done("x10"), calls("y", round_=2), done("y20"), calls("z", round_=3), done("z30")],
        Stop("maxRounds"),
    ),
    "above the limit of calls the model has to answer": (
        [calls("x", "y", "z", "w"), done("x10"), done("y11"), done("z12"), done("w13")],
        CallModel(tools=False),
    ),
    "above the limit of one tool too": (
        [calls("x", "x", "x"), done("x10"), done("x11"), done("x12")],
        CallModel(tools=False),
    ),
    "what the model then answers ends the run": (
        [calls("x", "x", "x"), done("x10"), done("x11"), done("x12"), says("so", round_=2)],
        Stop("toolCallLimitExceeded"),
    ),
    "another call then ends it as well": (
        [calls("x", "x", "x"), done("x10"), done("x11"), done("x12"), calls("x", round_=2), done("x20")],
        Stop("toolCallLimitExceeded"),
    ),
    "a cancel goes before everything": ([calls("x"), CancelRequested(run=R, at=2)], Stop("cancelled")),
    "a tool may end the run": (
        [calls("x"), done("x10"), StopRaised(run=R, at=2, call_id="x10", message="enough")],
        Stop(error="tool_failed", message="enough"),
    ),
    "a broken answer ends it with its error": (
        [
            ModelFinished(
                run=R,
                at=1,
                round=1,
                epoch=1,
                attempt=1,
                message=AssistantMessage((Text("ha"),), incomplete=True),
                error="stream_truncated",
                error_text="too early",
            )
        ],
        Stop(error="stream_truncated", message="too early"),
    ),
    "an interrupted answer that nothing stopped is asked for again": ([says("ha", incomplete=True)], CallModel()),
    "a question waits until it expires": ([calls("x"), asked("x10")], Park(5_000)),
    "the first to expire counts": ([calls("x", "y"), asked("x10", 7_000), asked("y11", 6_000)], Park(6_000)),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_comes_next(name: str) -> None:
    entries, expected = STOPS[name]
    assert decide(state(entries), 1_000) == expected


def rejected(call_id: str = "") -> AnswerRejected:
    return AnswerRejected(run=R, at=2, round=1, problem="no", feedback="No.", call_id=call_id)


def accepted() -> AnswerAccepted:
    return AnswerAccepted(run=R, at=2, round=1, text="{}")


INVALID = Stop(error="output_invalid", message="the model's answer does not fit the schema: no")
VERDICTS: dict[str, tuple[list[AnyEntry], Action]] = {
    "an answer in text is judged": ([says("hi")], JudgeAnswer()),
    "an answer in a call is judged": ([calls("answer")], JudgeAnswer()),
    "an answer beside other calls is judged first": ([calls("x", "answer")], JudgeAnswer()),
    "an answer that fits ends the run": ([says("hi"), accepted()], Stop("stop")),
    "an answer that does not fit is asked for again": ([says("hi"), rejected()], CallModel()),
    "but not for ever": ([says("hi"), rejected(), says("hi", round_=2), rejected()], INVALID),
    "the next answer is judged anew": ([says("hi"), rejected(), says("{}", round_=2)], JudgeAnswer()),
    "an answer that was cut off is not judged": ([says("hi", "length")], Stop("length")),
    "an answer at the last round is judged": ([says("", round_=2), says("hi", round_=3)], JudgeAnswer()),
    "a repair needs a round": ([says("hi", round_=3), rejected()], Stop("maxRounds")),
    "a cancel goes before a verdict": (
        [says("hi"), rejected(), CancelRequested(run=R, at=2)],
        Stop("cancelled"),
    ),
    "an answer may be given above the limit of calls": (
        [calls("x", "x", "x"), done("x10"), done("x11"), done("x12")],
        CallModel(),
    ),
    "and then says that there was a limit": (
        [calls("x", "x", "x"), done("x10"), done("x11"), done("x12"), says("{}", round_=2), accepted()],
        Stop("toolCallLimitExceeded"),
    ),
    "answers in calls do not count as calls": (
        [calls("x"), done("x10"), calls("x", "answer", round_=2), done("x20"), done("answer21")],
        CallModel(),
    ),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_what_comes_next_where_answers_have_a_schema(name: str) -> None:
    entries, expected = VERDICTS[name]
    limits = msgspec.structs.replace(LIMITS, output_repairs=1)
    turn = msgspec.structs.replace(STARTED, output=OutputSpec({}, "answer"), limits=limits)
    made = SessionState(SessionKey("t", "u", "-", "s"))
    for entry in (turn, *entries):
        apply(made, entry)
    assert decide(made, 1_000) == expected


def test_time_that_is_up_ends_the_run() -> None:
    assert decide(state([calls("x")]), 10_000) == Stop("timeout")
    assert decide(state([calls("x")]), 9_999) != Stop("timeout")


def test_time_spent_waiting_does_not_count() -> None:
    waited: list[AnyEntry] = [
        calls("x"),
        asked("x10", 99_000),
        RunParked(run=R, at=4_000, until=99_000),
        RunResumed(run=R, at=90_000, why="woken"),
    ]
    assert decide(state(waited), 95_000) == Park(99_000)
    assert decide(state(waited), 96_000) == Stop("timeout")


def test_the_time_until_a_crash_counts_and_the_time_down_does_not() -> None:
    crashed: list[AnyEntry] = [calls("x"), ToolStarted(run=R, at=6_000, call_id="x10", name="x")]
    back = state([*crashed, RunResumed(run=R, at=500_000, why="recovered")])
    assert back.run is not None
    assert back.run.ran(501_000) == 7.0


def test_open_calls_run_and_questions_do_not_hold_up_the_others() -> None:
    made = state([calls("x", "y"), asked("x10")])
    action = decide(made, 1_000)
    assert isinstance(action, RunTools)
    assert [call.call.id for call in action.calls] == ["x10", "y11"]


def test_calls_that_are_only_held_back_leave_nothing_to_do_but_wait() -> None:
    made = state([calls("x", "y"), asked("x10")])
    assert made.run is not None
    made.run.calls["y11"].held = True
    assert decide(made, 1_000) == Park(5_000)


def test_a_decision_lets_its_call_go_on() -> None:
    resolved = ApprovalResolved(run=R, at=2, request_id="q-x10", call_id="x10", outcome="approved")
    assert isinstance(decide(state([calls("x"), asked("x10"), resolved]), 1_000), RunTools)


def test_a_question_past_its_time_is_expired_before_anything_else() -> None:
    question = asked("x10", 900)
    assert decide(state([calls("x"), question]), 1_000) == Expire((question,))


def test_deciding_changes_nothing() -> None:
    made = state([calls("x", "y"), asked("x10")])
    assert decide(made, 1_000) == decide(made, 1_000)
    assert made.seq == 3
