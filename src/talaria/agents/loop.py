"""The loop: decide, act, record, until the run parks or ends."""

from collections.abc import Coroutine
from enum import Enum
from typing import Any

from talaria.agents.answer_step import judge_answer
from talaria.agents.decide import CallModel, Expire, JudgeAnswer, Park, RunTools, Stop, decide
from talaria.agents.mail import absorb, close_questions
from talaria.agents.model_step import call_model
from talaria.agents.open_run import OpenRun
from talaria.agents.own_step import invoke
from talaria.agents.own_turn import close_answer
from talaria.agents.run_tasks import open_tasks
from talaria.agents.tool_step import close_calls, run_tools
from talaria.journal.entries import CancelRequested
from talaria.journal.letters import DecisionBody


class Ended(Enum):
    """How the loop left a run."""

    PARKED = "parked"
    FINISHED = "finished"


async def drive(session: OpenRun) -> Ended:
    """Drive the session's active run until it has nothing to do but wait, or is over."""
    open_tasks(session, drive)
    try:
        while True:
            if session.has_mail:
                await absorb(session)
            match decide(session.state, session.now(), session.root.run.tasks):
                case CallModel(tools):
                    await session.attend(_answer(session, tools=tools))
                case RunTools(calls):
                    await session.attend(run_tools(session, session.means.chain, calls))
                case JudgeAnswer():
                    judge_answer(session)
                case Expire(asked):
                    await close_questions(session, asked, DecisionBody("expired"))
                case Park(until):
                    if await park(session, until):
                        return Ended.PARKED
                case Stop() as stop:
                    await finish(session, stop)
                    return Ended.FINISHED
    finally:
        await session.stop_tasks()


def _answer(session: OpenRun, *, tools: bool) -> Coroutine[Any, Any, None]:
    own = session.own
    return call_model(session, tools=tools) if own is None else invoke(session, own)


async def park(session: OpenRun, until: int) -> bool:
    """Leave the run waiting; False if there is something to do after all. A newer message takes the run's place."""
    if session.next_turn_waits:
        session.record(CancelRequested(run=session.run.id, at=session.now(), why="superseded"))
        return False
    if session.tasks is not None and not session.task and session.tasks.are_running:
        await session.attend(session.tasks.rest())
        return False
    await session.park(until)
    return True


async def finish(session: OpenRun, stop: Stop) -> None:
    """End the run, or a subagent's task: questions closed, calls answered, the reason recorded."""
    await session.stop_tasks()
    for task in session.unfinished_tasks():
        await finish(task, Stop("cancelled"))
    run, cancel = session.run, session.root.run.cancel
    seconds = run.ran(session.now())
    superseded = cancel is not None and cancel.why == "superseded"
    asked = tuple(session.state.approvals.values())
    await close_questions(session, asked, DecisionBody("superseded" if superseded else "cancelled"))
    close_calls(session, _why(stop, superseded=superseded))
    close_answer(session)
    session.record(session.finished(stop))
    await session.flush()
    session.log.info(
        "task_finished" if session.task else "run_finished",
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
