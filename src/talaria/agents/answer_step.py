"""Final answers of turns that have a schema for them: accepted, or rejected with words for the model."""

from talaria.agents.open_run import OpenRun
from talaria.agents.tool_step import record_outcome
from talaria.core.events import START
from talaria.journal.entries import AnswerAccepted, AnswerRejected
from talaria.journal.state import CallState
from talaria.journal.turn import OutputSpec
from talaria.tools.answers import FinalAnswer, feedback, problem, read_call, read_text
from talaria.tools.chain import ToolOutcome
from talaria.tools.errors import ArgumentsInvalid

NOT_ALONE = "Not taken: an answer is given alone, once the results of all other calls are known. Call {} again then."
TWICE = "Not taken: give one answer, in one call."
TAKEN = "The answer was accepted."


def judge_answer(session: OpenRun) -> None:
    """Record what becomes of the answer that the model gave last, in a call or as text."""
    run = session.run
    output = run.turn.output
    assert output is not None, "only answers with a schema are judged"
    given = [call for call in run.open_calls() if call.call.name == output.tool]
    if not given:
        _judge_text(session, output)
    elif len(run.calls) == 1:
        _judge_call(session, output, given[0])
    elif len(run.calls) == len(given):
        _close(session, given, TWICE)
        _reject(session, "several answers were given at once", TWICE, given[0].call.id)
    else:  # not held against the model: its other calls are work that counts towards their limits
        _close(session, given, NOT_ALONE.format(output.tool))


def _judge_call(session: OpenRun, output: OutputSpec, call: CallState) -> None:
    try:
        answer = read_call(session.answer, output.schema, call.arguments)
    except ArgumentsInvalid as error:
        _close(session, [call], error.message)
        _reject(session, problem(error), error.message, call.call.id)
        return
    record_outcome(session, call, ToolOutcome(TAKEN), 0)
    _accept(session, answer, call.call.id)


def _judge_text(session: OpenRun, output: OutputSpec) -> None:
    last = session.run.last
    assert last is not None
    try:
        answer = read_text(session.answer, output.schema, last.message.text)
    except ArgumentsInvalid as error:
        _reject(session, problem(error), feedback(error, output.schema, output.tool))
        return
    _accept(session, answer)


def _close(session: OpenRun, calls: list[CallState], why: str) -> None:
    for call in calls:
        record_outcome(session, call, ToolOutcome(why, "refused"), 0)


def _accept(session: OpenRun, answer: FinalAnswer, call_id: str = "") -> None:
    run = session.run
    is_said = bool(not call_id and run.last and run.last.message.text == answer.text)
    session.record(
        AnswerAccepted(
            run=run.id,
            at=session.now(),
            round=run.rounds,
            text=answer.text,
            rewind=START if is_said or call_id else run.before_text,
            call_id=call_id,
            repairs=answer.repairs,
        )
    )
    session.log.info("answer_accepted", round=run.rounds, repairs=list(answer.repairs))


def _reject(session: OpenRun, why: str, told: str, call_id: str = "") -> None:
    run = session.run
    session.record(
        AnswerRejected(
            run=run.id,
            at=session.now(),
            round=run.rounds,
            problem=why,
            feedback=told,
            rewind=START if call_id else run.before_text,
            call_id=call_id,
        )
    )
    session.log.warning("answer_rejected", round=run.rounds, problem=why, times=run.rejections)
