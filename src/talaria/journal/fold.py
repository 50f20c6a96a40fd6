"""The fold: one entry at a time, state moves on. Pure of I/O; the same entries always give the same state.

The message history (`state.prompt.messages`) is valid for every provider after any sequence of entries: an assistant
message with calls enters it only together with exactly one tool message a call, in the order of the calls.
"""

from typing import assert_never

import msgspec

from talaria.core.events import Position
from talaria.core.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
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
from talaria.journal.history import normalise
from talaria.journal.spending import Spending, count_call, count_model, count_run
from talaria.journal.state import CallState, RunState, SessionState, with_variable
from talaria.journal.views import before_text, last_position
from talaria.ports.model import Prompt

FIRST_WORDS = 400
"""Characters of a session's first message that can be searched for."""

UNKNOWN = "outcome_unknown"
QUOTA = "quota"
"""The action of an audit entry about a quota; one that is about no call ends the run."""
INTERRUPTED = "The run ended before this call had a result; it is not known whether it took effect."


def apply(state: SessionState, entry: AnyEntry) -> None:
    """Move `state` on by one entry."""
    state.seq += 1
    if entry.task:
        _move_task(state, entry)
    else:
        _evolve(state, entry)
    state.last_at = entry.at


def _move_task(state: SessionState, entry: AnyEntry) -> None:
    """Entries of a subagent's thread move the state of its task; what they use counts for the run."""
    run = state.run
    if run is None or run.id != entry.run or run.finished is not None:
        return
    if isinstance(entry, TaskStarted):
        run.tasks[entry.task] = _start_task(state, run, entry)
        return
    task = run.tasks.get(entry.task)
    if task is None or task.run is None:
        return
    task.seq = state.seq
    _evolve(task, entry)
    if isinstance(entry, ModelFinished):
        run.usage += entry.usage
    elif isinstance(entry, TaskFinished):
        above = run.tasks.get(task.run.task.parent, state) if task.run.task is not None else state
        above.untrusted = above.untrusted or task.untrusted


def _start_task(state: SessionState, run: RunState, entry: TaskStarted) -> SessionState:
    """A state with a history of its own; what holds for the whole session is shared."""
    above = run.tasks.get(entry.parent, state)
    task = SessionState(state.key)
    task.seq, task.untrusted, task.created, task.turns = state.seq, above.untrusted, entry.at, 1
    task.remembered, task.wholes, task.variables = state.remembered, state.wholes, state.variables
    message = UserMessage((Text(entry.prompt),), run.turn.message.sent)
    turn = msgspec.structs.replace(
        run.turn, task=entry.task, model=entry.model, message=message, limits=entry.limits, history=(), output=None
    )
    task.run = RunState(
        turn,
        state.seq,
        (state.seq, 0, 0, 0),
        running_since=entry.at,
        spending=run.spending,
        call_ids=run.call_ids,
        per_tool=run.per_tool,
        task=entry,
    )
    task.prompt = Prompt(entry.system, entry.tools, [message])
    return task


def _evolve(state: SessionState, entry: AnyEntry) -> None:
    if isinstance(entry, (TurnStarted, SessionExpired, ContextSet, VariableSet)):
        _move_session(state, entry)
        return
    run = state.run
    if run is None or run.id != entry.run or run.finished is not None:
        return  # a late word about a run that is over changes nothing
    before, run.anchor = run.anchor, last_position(state.seq, entry) or run.anchor
    match entry:
        case ModelFinished():
            _take_answer(state, run, entry, before)
        case AnswerRejected() | AnswerAccepted():
            _take_verdict(state, run, entry)
        case StepFinished() | AgentSaid():
            _take_own(run, entry, before)
        case ToolStarted() | ToolFinished() | ApprovalRequested() | ApprovalResolved():
            _move_call(state, run, entry)
        case Emitted() | ToolOutput() | ArtifactSaved() | TaskStarted():
            pass  # for clients, and for those who look into it
        case Audited() | PlanSet():
            _take_note(state, run, entry)
        case _:
            _move_run(state, run, entry)


def _move_session(state: SessionState, entry: TurnStarted | SessionExpired | ContextSet | VariableSet) -> None:
    match entry:
        case TurnStarted():
            _start_turn(state, entry)
        case SessionExpired():
            state.begin()
        case ContextSet():
            _set_context(state, entry)
        case VariableSet():
            state.variables = with_variable(state.variables, entry.name, entry.value)
        case _:
            assert_never(entry)


def _take_note(state: SessionState, run: RunState, entry: Audited | PlanSet) -> None:
    if isinstance(entry, PlanSet):
        state.plan = entry
    elif entry.action == QUOTA and not entry.call_id:
        run.over_quota = entry


def _take_own(run: RunState, entry: StepFinished | AgentSaid, before: Position) -> None:
    if isinstance(entry, StepFinished):
        run.steps[entry.step] = entry
        run.usage += entry.usage
        count_model(run.spending, entry.at, entry.message.model, entry.usage)
        run.call_ids.update(call.id for call in entry.message.calls)
        run.downgraded = run.downgraded.union(entry.downgraded)
        return
    run.before_text = run.before_text if run.said else before
    run.said.append(entry)


def _move_run(
    state: SessionState,
    run: RunState,
    entry: StopRaised | RunParked | RunResumed | CancelRequested | TaskFinished | RunFinished,
) -> None:
    match entry:
        case StopRaised():
            run.stopped = entry
        case RunParked():
            run.ran_ms = int(run.ran(entry.at) * 1000)
            run.running_since, run.parked_until = None, entry.until
        case RunResumed():
            if run.running_since is not None:  # its owner died: the time until its last entry counts
                run.ran_ms = int(run.ran(state.last_at) * 1000)
            run.running_since, run.parked_until = entry.at, None
        case CancelRequested():
            run.cancel = run.cancel or entry
        case TaskFinished():
            _close(state, run)
            run.finished = RunFinished(
                run=entry.run, at=entry.at, reason=entry.reason, error=entry.error, message=entry.message
            )
        case RunFinished():
            _close(state, run)
            run.finished, run.running_since, run.parked_until = entry, None, None
            run.tasks.clear()
            count_run(run.spending, entry.at)
        case _:
            assert_never(entry)


def _start_turn(state: SessionState, entry: TurnStarted) -> None:
    if state.run is not None and state.run.finished is None:
        _close(state, state.run)
    spending = Spending.of(entry)
    state.run = RunState(entry, state.seq, (state.seq, 0, 0, 0), running_since=entry.at, spending=spending)
    state.approvals = {}
    state.turns += 1
    state.created = state.created or entry.at
    state.first_words = state.first_words or _line(entry.message)
    state.prompt.messages.extend(normalise(entry.history))
    state.prompt.messages.append(entry.message)


def _line(message: UserMessage) -> str:
    text = next((part.text for part in message.parts if isinstance(part, Text)), "")
    return " ".join(text[: 4 * FIRST_WORDS].split())[:FIRST_WORDS]


def _set_context(state: SessionState, entry: ContextSet) -> None:
    """A changed beginning: signed reasoning before it no longer holds and is left out as a whole."""
    prompt = _without_signed(state.prompt)
    state.prompt = Prompt(entry.system, entry.tools, prompt.messages)
    state.memory_index = entry.memory


def _without_signed(prompt: Prompt) -> Prompt:
    return Prompt(prompt.system, prompt.tools, [_unsigned(message) for message in prompt.messages])


def _unsigned(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    signed = any(isinstance(part, Reasoning) and part.payload is not None for part in message.parts)
    if not signed:
        return message
    parts = tuple(part for part in message.parts if not (isinstance(part, Reasoning) and part.payload is not None))
    return AssistantMessage(parts, message.model, message.incomplete)


def _take_answer(state: SessionState, run: RunState, entry: ModelFinished, before: Position) -> None:
    _close(state, run)
    run.rounds = max(run.rounds, entry.round)
    run.usage += entry.usage
    run.last, run.rejected = entry, None
    if entry.attempt:  # else an agent of one's own answered: its model calls are steps
        run.before_text = before_text(state.seq, entry, before)
        count_model(run.spending, entry.at, entry.message.model, entry.usage)
    if entry.downgraded:
        run.downgraded = run.downgraded.union(entry.downgraded)
    if entry.reasoning_refused:
        state.prompt = _without_signed(state.prompt)
    message = entry.message
    if message.calls and not message.incomplete:
        run.message, run.calls = message, {}
        run.empty_answers = 0
        for call in message.calls:
            _add_call(run, call, entry.round)
    elif message.text:
        state.prompt.messages.append(_cut(message) if message.incomplete else message)
        run.empty_answers = 0
    elif not message.incomplete and entry.attempt:  # an agent of one's own may have nothing to say
        run.empty_answers += 1


def _take_verdict(state: SessionState, run: RunState, entry: AnswerRejected | AnswerAccepted) -> None:
    """An answer given in a call follows as text, so that people and later turns see it; the call has its result."""
    messages = state.prompt.messages
    if isinstance(entry, AnswerAccepted):
        run.answer = entry
        if entry.call_id and entry.text:
            messages.append(AssistantMessage((Text(entry.text),), run.turn.model))
        return
    run.rejected = entry
    run.rejections += 1
    if entry.feedback and not entry.call_id:
        messages.append(UserMessage((), entry.feedback))  # the harness said it, no person


def _cut(message: AssistantMessage) -> AssistantMessage:
    """Of a message that was cut off only the text is kept: unfinished reasoning is signed by nobody."""
    parts: tuple[AssistantPart, ...] = tuple(part for part in message.parts if isinstance(part, Text))
    return AssistantMessage(parts, message.model, True)


def _add_call(run: RunState, call: ToolCall, round_: int) -> None:
    run.call_ids.add(call.id)
    if run.is_answer(call):  # no tool's call: it counts as none
        run.calls[call.id] = CallState(call, call.arguments, run.call_count, 0)
        return
    nth = run.per_tool[call.name] = run.per_tool.get(call.name, 0) + 1
    run.calls[call.id] = CallState(call, call.arguments, run.call_count, nth)
    limits = run.turn.limits
    if not run.over_limit_round and (run.call_count > limits.max_calls or nth > limits.max_calls_per_tool):
        run.over_limit_round = round_


def _move_call(
    state: SessionState, run: RunState, entry: ToolStarted | ToolFinished | ApprovalRequested | ApprovalResolved
) -> None:
    call = run.calls.get(entry.call_id)
    if call is None or call.result is not None:
        return
    match entry:
        case ToolStarted():
            if not call.was_started:  # a call that a crash cut short and that runs again is one call
                count_call(run.spending, entry.at, entry.name)
            call.status, call.was_started = "started", True
        case ToolFinished():
            _finish_call(state, call, entry)
            _settle(state, run)
        case ApprovalRequested():
            call.status, call.asked, call.agreed, call.resolved = "asked", entry, call.resolved, None
            state.approvals[entry.request_id] = entry
        case ApprovalResolved():
            run.decisions[entry.call_id] = entry
            _resolve(state, call, entry)
        case _:
            assert_never(entry)


def _resolve(state: SessionState, call: CallState, entry: ApprovalResolved) -> None:
    asked = state.approvals.pop(entry.request_id, None)
    if asked is None:
        return
    call.status, call.resolved = "resolved", entry
    if entry.outcome == "edited":
        call.arguments = entry.arguments
    elif entry.outcome in ("approved", "answered"):
        call.arguments = asked.arguments  # what was shown, repairs included
    consent = entry.outcome in ("approved", "edited")
    if consent and asked.reason == UNKNOWN:
        call.was_started = False  # a person said: run it again
    elif entry.outcome == "approved" and entry.remember:
        state.remembered[call.call.name] = entry


def _finish_call(state: SessionState, call: CallState, entry: ToolFinished) -> None:
    call.status, call.is_invalid = "finished", entry.outcome == "invalid"
    call.untrusted = entry.untrusted
    call.result = ToolMessage(entry.call_id, entry.name, entry.text, entry.outcome != "ok", entry.images)
    if entry.blob:
        state.wholes[entry.call_id] = entry.blob


def _settle(state: SessionState, run: RunState) -> None:
    """Once every call of the round has its answer, the round enters the history."""
    if run.message is None or any(call.result is None for call in run.calls.values()):
        return
    run.invalid_rounds = run.invalid_rounds + 1 if all(call.is_invalid for call in run.calls.values()) else 0
    state.untrusted = state.untrusted or any(call.untrusted for call in run.calls.values())
    state.prompt.messages.append(run.message)
    state.prompt.messages.extend(call.result for call in run.calls.values() if call.result is not None)
    run.message, run.calls = None, {}


def _close(state: SessionState, run: RunState) -> None:
    """Answer what is still open, so that the history stays valid whatever happened."""
    for call in run.calls.values():
        if call.result is None:
            call.result = ToolMessage(call.call.id, call.call.name, INTERRUPTED, True)
    _settle(state, run)
    for request_id in [key for key, asked in state.approvals.items() if asked.run == run.id]:
        del state.approvals[request_id]
