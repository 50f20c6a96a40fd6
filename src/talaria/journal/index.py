"""What must be found across sessions: pure index rows of an entry, so that an index can always be rebuilt."""

import msgspec

from talaria.journal.entries import (
    AnyEntry,
    ApprovalRequested,
    ApprovalResolved,
    Audited,
    RunFinished,
    RunParked,
    RunResumed,
    TurnStarted,
)
from talaria.journal.spending import MINUTE
from talaria.journal.state import RunState, SessionState
from talaria.ports.journal import Drop, IndexRow, Put

SESSION, TURN, RUN, APPROVAL, WAKE, AUDIT = "session", "turn", "run", "approval", "wake", "audit"
USAGE = "usage"
"""What a run used in one minute; see journal.spending. These rows hang on no session, too.

They are written when a run begins, parks and ends: one that goes on costs no write more.
"""
SEALED = "sealed"
"""The secrets of a run that is not over, encrypted; its key is the run. No entry knows them: it cannot be rebuilt."""

RUN_NOW = 0
"""`at` of the wake row of a session that runs: due at once for whoever comes after its owner."""


class SessionRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A session in a listing. Times in ms.

    `words`: the beginning of its first message, where the title does not have all of it. `since`: the seq after which
    the session counts; what stands before it has expired.
    """

    title: str
    created: int
    turns: int
    words: str = ""
    since: int = 0


class RunRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A run: where it is recorded, and how it stands. `first` and `last` are seqs of its session."""

    status: str
    agent: str
    model: str
    started: int
    first: int
    last: int = 0
    finished: int = 0
    reason: str = ""
    error: str = ""


class ApprovalRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An open question. `expires_at` and `asked_at` in ms."""

    run: str
    call_id: str
    name: str
    arguments: str
    asked_at: int
    expires_at: int
    reason: str


class AuditRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A decision that somebody may have to account for; see journal.entries.Audited. `session` is a path, if any.

    These rows hang on no session: they outlive the bodies.
    """

    action: str
    outcome: str
    subject: str = ""
    rule: str = ""
    by: str = ""
    detail: str = ""
    session: str = ""
    run: str = ""
    call_id: str = ""


_encode = msgspec.json.Encoder().encode


def index(state: SessionState, entry: AnyEntry) -> list[IndexRow]:
    """Return the rows that `entry` writes; `state` is the state right after it."""
    run = state.run
    if run is None or run.id != entry.run:
        return []
    match entry:
        case TurnStarted():
            run_row, wake = _run_row(state, run, "running"), _wake(state, run.id, RUN_NOW)
            return [_session_row(state, entry.at), run_row, wake, *usage_rows(state, run)]
        case RunParked():
            return [_run_row(state, run, "parked"), _wake(state, run.id, entry.until), *usage_rows(state, run)]
        case RunResumed():
            return [_run_row(state, run, "running"), _wake(state, run.id, RUN_NOW)]
        case ApprovalRequested():
            row = ApprovalRow(
                entry.run, entry.call_id, entry.name, entry.arguments, entry.at, entry.expires_at, entry.reason
            )
            return [Put(APPROVAL, entry.request_id, state.path, state.scope, entry.expires_at, _encode(row))]
        case ApprovalResolved():
            return [Drop(APPROVAL, entry.request_id), _decided(state, entry)]
        case Audited():
            return [_audited(state, entry)]
        case RunFinished():
            rows = [_session_row(state, entry.at), _run_row(state, run, "finished"), Drop(WAKE, state.path)]
            sealed = [Drop(SEALED, run.id)] if run.turn.secrets else []
            return [*rows, *sealed, *usage_rows(state, run)]
        case _:
            return []


def _session_row(state: SessionState, at: int) -> Put:
    words = state.first_words if state.first_words != state.title else ""
    row = SessionRow(state.title, state.created, state.turns, words, state.since)
    kind = TURN if state.key.run else SESSION
    return Put(kind, state.path, state.path, state.scope, at, _encode(row))


def _run_row(state: SessionState, run: RunState, status: str) -> Put:
    turn, end = run.turn, run.finished
    row = RunRow(
        status,
        turn.agent,
        turn.model,
        turn.at,
        run.first_seq,
        last=state.seq if end else 0,
        finished=end.at if end else 0,
        reason=end.reason if end else "",
        error=end.error if end else "",
    )
    return Put(RUN, turn.run, state.path, state.scope, turn.at, _encode(row))


def _decided(state: SessionState, entry: ApprovalResolved) -> Put:
    run = state.run
    thread = run.tasks[entry.task].run if run is not None and entry.task in run.tasks else run
    call = thread.calls.get(entry.call_id) if thread is not None else None
    name = call.call.name if call is not None else ""
    row = AuditRow(
        "approval",
        entry.outcome,
        name,
        rule=entry.via,
        by=entry.by,
        detail=entry.comment,
        run=entry.run,
        call_id=entry.call_id,
    )
    return audit_row(state.path, state.scope, state.seq, entry.at, row)


def _audited(state: SessionState, entry: Audited) -> Put:
    row = AuditRow(
        entry.action,
        entry.outcome,
        entry.subject,
        entry.rule,
        entry.by,
        entry.detail,
        run=entry.run,
        call_id=entry.call_id,
    )
    return audit_row(state.path, state.scope, state.seq, entry.at, row)


def audit_row(path: str, scope: str, seq: int, at: int, row: AuditRow) -> Put:
    """The index row of a decision in a session. Where one is deleted and begun anew, seqs are too, but no run."""
    row = msgspec.structs.replace(row, session=path)
    return Put(AUDIT, f"{path}#{row.run}/{seq}", "", scope, at, _encode(row))


def usage_rows(state: SessionState, run: RunState) -> list[Put]:
    """What a run has used so far: a row for each minute in which it used anything."""
    rows = run.spending.rows.items()
    key = f"{state.path}#{run.id}/"
    return [Put(USAGE, f"{key}{minute}", "", state.scope, minute * MINUTE, _encode(row)) for minute, row in rows]


def _wake(state: SessionState, run: str, at: int) -> Put:
    return Put(WAKE, state.path, state.path, state.scope, at, run.encode())
