"""Which entries are told, to whom."""

import pytest

from talaria.journal.entries import AnyEntry, ApprovalRequested, RunFinished
from talaria.journal.fold import apply
from talaria.journal.index import index
from talaria.journal.state import SessionState
from talaria.notify.notice import Event
from talaria.notify.outbox import Outbox, read_row, told
from talaria.notify.target import Target
from talaria.ports.journal import Put
from tests.journal.entries import FULL, KEY


def question(reason: str) -> ApprovalRequested:
    return ApprovalRequested(
        run="run_1", at=1, request_id="ask_1", call_id="c", name="n", arguments="{}", expires_at=9, reason=reason
    )


@pytest.mark.parametrize(
    ("entry", "event"),
    [
        (question("declared"), "approval_request"),
        (question("question"), "question"),
        (RunFinished(run="run_1", at=1, reason="stop"), "finish"),
        (RunFinished(run="run_1", at=1, reason="cancelled"), "finish"),
        (RunFinished(run="run_1", at=1, reason="error", error="internal"), "error"),
        (FULL[0], None),
    ],
)
def test_what_an_entry_is_to_those_outside(entry: AnyEntry, event: Event | None) -> None:
    assert told(entry) == event


def test_each_target_that_wants_it_has_a_delivery_of_its_own_besides_the_rows_of_the_index() -> None:
    both, one, none = (
        Target(0, frozenset(("finish", "error")), "slack", "https://a"),
        Target(1, frozenset(("error",)), "slack", "https://b", agents=frozenset(("clerk",))),
        Target(2, frozenset(("error",)), "slack", "https://c", agents=frozenset(("cook",))),
    )
    state = SessionState(KEY)
    apply(state, FULL[0])
    end = RunFinished(run="run_1", at=1, reason="error", error="internal", message="m" * 10_000)
    apply(state, end)
    rows = Outbox((both, one, none)).rows(state, end)
    known = index(state, end)
    assert rows[: len(known)] == known
    told_to = [row for row in rows[len(known) :] if isinstance(row, Put)]
    assert [row.kind for row in told_to] == [both.kind, one.kind]
    assert len({row.key for row in told_to}) == 2
    assert {row.session for row in told_to} == {""}
    assert Outbox((both, one, none)).rows(state, end) == rows  # the ids are those of the entry
    notice = read_row(told_to[0])
    assert (notice.event, notice.reason, notice.agent, notice.session) == ("error", "internal", "clerk", KEY.path)
    assert len(notice.message) == 500
    assert all(len(row.data) < 1_500 for row in told_to)
