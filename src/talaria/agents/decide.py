"""What to do next: a pure function of the session's state and the time."""

from collections.abc import Mapping

import msgspec

from talaria.journal.entries import AnswerRejected, ApprovalRequested, FinishReason
from talaria.journal.state import CallState, RunState, SessionState


class CallModel(msgspec.Struct, frozen=True, gc=False):
    """Ask the model. `tools` is False when it has to answer with what it has."""

    tools: bool = True


class RunTools(msgspec.Struct, frozen=True, gc=False):
    """Bring these open calls forward, in the model's order."""

    calls: tuple[CallState, ...]


class JudgeAnswer(msgspec.Struct, frozen=True, gc=False):
    """Hold what the model gave as its final answer against the turn's schema."""


class Expire(msgspec.Struct, frozen=True, gc=False):
    """Nobody answered these questions in time."""

    asked: tuple[ApprovalRequested, ...]


class Park(msgspec.Struct, frozen=True, gc=False):
    """Nothing to do but wait, until `until` (ms) or a letter."""

    until: int


class Stop(msgspec.Struct, frozen=True, gc=False):
    """The run ends: with a finish reason, or with an error code and a sentence."""

    reason: FinishReason = "stop"
    error: str = ""
    message: str = ""


Action = CallModel | RunTools | JudgeAnswer | Expire | Park | Stop

EMPTY_ANSWERS = 2
"""How often in a row a model may say nothing at all."""


def decide(state: SessionState, now: int, tasks: Mapping[str, SessionState] | None = None) -> Action:
    """Return the next action of the session's active run. `now` in ms; `tasks`: those of the whole run."""
    run = state.active
    assert run is not None, "decide is asked only while a run is active"
    if (stop := _must_stop(run, now)) is not None:
        return stop
    if run.answer is not None:
        return Stop("toolCallLimitExceeded" if run.over_limit_round else "stop")
    if run.calls:
        return _for_calls(state, run, now, run.tasks if tasks is None else tasks)
    if run.rejected is not None:
        return _for_rejected(run, run.rejected)
    return _for_answer(run)


def _must_stop(run: RunState, now: int) -> Stop | None:
    if run.cancel is not None:
        return Stop("cancelled")
    if run.over_quota is not None:
        return Stop("quotaExceeded", message=run.over_quota.detail)
    if run.stopped is not None:
        return Stop(error="tool_failed", message=run.stopped.message)
    if run.ran(now) >= run.turn.limits.run_timeout:
        return Stop("timeout")
    if run.last is not None and run.last.error:
        return Stop(error=run.last.error, message=run.last.error_text)
    return None


def _for_calls(state: SessionState, run: RunState, now: int, tasks: Mapping[str, SessionState]) -> Action:
    open_calls = run.open_calls()
    if any(run.is_answer(call.call) for call in open_calls):
        return JudgeAnswer()
    expired = tuple(asked for asked in state.approvals.values() if asked.expires_at <= now)
    if expired:
        return Expire(expired)
    parked = {call.call.id: park for call in open_calls if (park := _waits(call, now, tasks)) is not None}
    waiting = [call for call in open_calls if call.status == "asked" or call.call.id in parked]
    first_waiting = min((call.ordinal for call in waiting), default=None)
    ready = tuple(call for call in open_calls if call.status != "asked" and call.call.id not in parked)
    if ready and not (first_waiting is not None and all(_is_held(call, first_waiting) for call in ready)):
        return RunTools(tuple(open_calls))
    deadlines = [asked.expires_at for asked in state.approvals.values()]
    return Park(min([*deadlines, *(park.until for park in parked.values())]))


def _waits(call: CallState, now: int, tasks: Mapping[str, SessionState]) -> Park | None:
    """Whether the call waits for a task that has nothing to do but wait for a person."""
    task = tasks.get(call.waits_on) if call.waits_on else None
    if task is None or task.active is None:
        return None
    action = decide(task, now, tasks)
    return action if isinstance(action, Park) else None


def _is_held(call: CallState, first_waiting: int) -> bool:
    """Whether the call has already been found to have to wait for one before it."""
    return call.held and call.ordinal > first_waiting


def _for_rejected(run: RunState, rejected: AnswerRejected) -> Action:
    if run.rejections <= run.turn.limits.output_repairs:
        return _next_round(run, tools=_may_call(run))
    return Stop(error="output_invalid", message=f"the model's answer does not fit the schema: {rejected.problem}")


def _may_call(run: RunState) -> bool:
    """Whether the model is offered its tools: above their limits only to answer with one."""
    return not run.over_limit_round or bool(run.answers_by)


def _for_answer(run: RunState) -> Action:
    last = run.last
    if last is None:
        return CallModel()
    if last.message.incomplete:  # its owner was interrupted, and nothing of that says to stop
        return CallModel()
    if last.message.calls:
        if run.invalid_rounds > run.turn.limits.output_repairs:
            message = (
                f"no tool call of the model's last {run.invalid_rounds} rounds was valid; look at the tools' schemas"
            )
            return Stop(error="output_invalid", message=message)
        if run.over_limit_round:
            done = last.round > run.over_limit_round
            return Stop("toolCallLimitExceeded") if done else _next_round(run, tools=_may_call(run))
        return _next_round(run, tools=True)
    if run.empty_answers and last.finish in ("stop", "tool_calls"):
        if run.empty_answers < EMPTY_ANSWERS:
            return _next_round(run, tools=_may_call(run))
        return Stop(error="output_invalid", message="the model gave an empty answer twice; ask again or take another")
    if run.turn.output is not None and last.message.text and last.finish in ("stop", "tool_calls"):
        return JudgeAnswer()
    if run.over_limit_round:
        return Stop("toolCallLimitExceeded")
    return Stop(last.finish if last.finish != "tool_calls" else "stop")


def _next_round(run: RunState, *, tools: bool) -> Action:
    return CallModel(tools) if run.rounds < run.turn.limits.max_rounds else Stop("maxRounds")
