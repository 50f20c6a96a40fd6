"""Letters become entries: decisions and cancels of a run, each in the thread of the run that it is about."""

from collections.abc import Sequence

import msgspec

from talaria.agents.open_run import OpenRun
from talaria.journal.entries import ApprovalRequested, ApprovalResolved, CancelRequested
from talaria.journal.letters import DecisionBody, decision_letter, read_decision
from talaria.journal.questions import FOR_USER
from talaria.ports.inbox import Letter


async def absorb(session: OpenRun) -> None:
    """Turn letters into entries: decisions and cancels of this run; the next turn stays where it is."""
    async with session.reading:
        if not session.has_mail:
            return
        arrived = session.arrived
        letters = await session.means.store.inbox.pending(session.state.path)
        session.absorbed = arrived  # not sooner: whoever is interrupted while reading has read nothing
        in_line = {letter.run for letter in letters if letter.kind == "turn"}
        session.next_turn_waits = bool(in_line)
        for letter in letters:
            if letter.run not in in_line:
                _take(session, letter)
    session.poke_tasks()


def _take(session: OpenRun, letter: Letter) -> None:
    if letter.kind == "cancel" and letter.run == session.run.id:
        session.record(CancelRequested(run=session.run.id, at=session.now()), consumed=[letter.key])
        session.interrupt()
    elif letter.kind == "decision" and letter.run == session.run.id:
        take_decision(session, letter)
    else:
        session.record(consumed=[letter.key])  # about a run that is over


def take_decision(session: OpenRun, letter: Letter) -> None:
    """Record the decision in force for a question; a question that is closed stays as it is."""
    thread = next((each for each in session.root.state.threads if letter.key in each.approvals), None)
    if thread is None:
        session.record(consumed=[letter.key])
        return
    asked, body = thread.approvals[letter.key], read_decision(letter)
    entry = ApprovalResolved(
        run=session.run.id,
        task=thread.task,
        at=session.now(),
        request_id=letter.key,
        call_id=asked.call_id,
        outcome=body.outcome,
        by=body.by,
        arguments=body.arguments,
        comment=body.comment,
        remember=body.remember,
        via=body.via,
        answer=body.answer,
        role=body.role,
        is_error=body.is_error,
    )
    session.root.record(entry, consumed=[letter.key])
    session.log.info("approval_resolved", request=letter.key, tool=asked.name, outcome=body.outcome)


async def close_questions(session: OpenRun, asked: Sequence[ApprovalRequested], body: DecisionBody) -> None:
    """Answer questions in the harness's own name; a person who was faster wins."""
    for question in asked:
        said = msgspec.structs.replace(body, for_user=question.reason in FOR_USER)
        letter = decision_letter(session.state.path, question.request_id, session.run.id, session.now(), said)
        take_decision(session, await session.means.store.inbox.put(letter))
