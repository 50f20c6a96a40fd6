"""The loop: decide, act, record, until the run parks or ends."""

from enum import Enum

from talaria.agents.answer_step import judge_answer
from talaria.agents.decide import CallModel, Expire, JudgeAnswer, Park, RunTools, Stop, decide
from talaria.agents.model_step import call_model
from talaria.agents.open_run import OpenRun
from talaria.agents.own_step import invoke
from talaria.agents.own_turn import close_answer
from talaria.agents.tool_step import close_calls, run_tools
from talaria.journal.entries import CancelRequested, RunFinished, RunParked
from talaria.journal.letters import DecisionBody


class Ended(Enum):
    """How the loop left a run."""

    PARKED = "parked"
    FINISHED = "finished"


async def drive(session: OpenRun) -> Ended:
    """Drive the session's active run until it has nothing to do but wait, or is over."""
    while True:
        if session.has_mail:
            await session.absorb()
        match decide(session.state, session.now()):
            case CallModel(tools):
                own = session.own
                await session.attend(call_model(session, tools=tools) if own is None else invoke(session, own))
            case RunTools(calls):
                await session.attend(run_tools(session, session.means.chain, calls))
            case JudgeAnswer():
                judge_answer(session)
            case Expire(asked):
                await session.close_questions(asked, DecisionBody("expired"))
            case Park(until):
                if await park(session, until):
                    return Ended.PARKED
            case Stop() as stop:
                await finish(session, stop)
                return Ended.FINISHED


async def park(session: OpenRun, until: int) -> bool:
    """Leave the run waiting; False if there is something to do after all. A newer message takes the run's place."""
    if session.next_turn_waits:
        session.record(CancelRequested(run=session.run.id, at=session.now(), why="superseded"))
        return False
    session.record(RunParked(run=session.run.id, at=session.now(), until=until))
    await session.flush()
    return True


async def finish(session: OpenRun, stop: Stop) -> None:
    """End the run: questions closed, calls answered, the reason recorded."""
    run, cancel = session.run, session.run.cancel
    seconds = run.ran(session.now())
    superseded = cancel is not None and cancel.why == "superseded"
    asked = tuple(session.state.approvals.values())
    await session.close_questions(asked, DecisionBody("superseded" if superseded else "cancelled"))
    close_calls(session, _why(stop, superseded=superseded))
    close_answer(session)
    session.record(
        RunFinished(
            run=run.id,
            at=session.now(),
            reason="error" if stop.error else stop.reason,
            usage=run.usage,
            error=stop.error,
            message=session.redactor.mask(stop.message),
            answer=run.answer.text if run.answer is not None and not stop.error else "",
        )
    )
    await session.flush()
    session.log.info(
        "run_finished",
        reason=stop.error or stop.reason,
        rounds=run.rounds,
        calls=run.call_count,
        seconds=round(seconds, 3),
    )


def _why(stop: Stop, *, superseded: bool) -> str:
    if superseded:
        return "Not run: the user sent a new message while this call waited for approval."
    words = {
        "cancelled": "the run was cancelled",
        "timeout": "the run's time was up",
        "quotaExceeded": "a quota is used up",
        "tool_failed": "a tool ended the run",
    }
    return f"Not run: {words.get(stop.error or stop.reason, 'the run ended')}."
