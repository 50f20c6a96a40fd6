"""The outbox: deliveries are index rows of the entry that they tell of, so that neither is there without the other."""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from talaria.journal.entries import AnyEntry, ApprovalRequested, RunFinished
from talaria.journal.index import index
from talaria.journal.questions import CLIENT, QUESTION
from talaria.journal.state import SessionState
from talaria.notify.notice import Event, NoticeRow
from talaria.notify.target import Target
from talaria.ports.journal import IndexRow, Put

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(NoticeRow).decode


class Outbox:
    """Makes the rows of an entry: those of the index, and a delivery to each target that wants to know of it.

    Deliveries hang on no session: what ended is told also when its session was deleted at once.
    """

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = tuple(targets)

    def rows(self, state: SessionState, entry: AnyEntry) -> list[IndexRow]:
        """Return the rows that `entry` writes; `state` is the state right after it."""
        rows = index(state, entry)
        event = told(entry)
        if event is None or state.run is None or state.run.id != entry.run:
            return rows
        agent = state.run.turn.agent
        wanted = [target for target in self._targets if target.wants(event, agent)]
        if wanted:
            row = _row(event, state, entry)
            rows += [_delivery(target, state, row) for target in wanted]
        return rows


def told(entry: AnyEntry) -> Event | None:
    """What an entry is to those outside, if anything."""
    match entry:
        case ApprovalRequested():
            if entry.reason == CLIENT:
                return None  # a program is asked, no person
            return "question" if entry.reason == QUESTION else "approval_request"
        case RunFinished():
            return "error" if entry.reason == "error" else "finish"
        case _:
            return None


def read_row(row: Put) -> NoticeRow:
    """The delivery of a row."""
    return _decode(row.data)


def again(row: Put, notice: NoticeRow, at: int) -> Put:
    """The row of a delivery that is tried again at `at` (ms)."""
    data = _encode(msgspec.structs.replace(notice, tries=notice.tries + 1))
    return msgspec.structs.replace(row, at=at, data=data)


def _row(event: Event, state: SessionState, entry: AnyEntry) -> NoticeRow:
    assert state.run is not None
    turn = state.run.turn
    row = NoticeRow(event, entry.at, state.path, entry.run, turn.agent, turn.roles)
    if isinstance(entry, ApprovalRequested):
        return msgspec.structs.replace(row, request_id=entry.request_id)
    assert isinstance(entry, RunFinished)
    return msgspec.structs.replace(
        row, reason=entry.error or entry.reason, message=entry.message[:500], usage=entry.usage
    )


def _delivery(target: Target, state: SessionState, row: NoticeRow) -> Put:
    id_ = sha256(f"{row.run}#{state.seq}#{target.id}".encode()).hexdigest()[:32]
    return Put(target.kind, f"msg_{id_}", "", state.scope, row.at, _encode(row))
