"""Every check can fail: each of these spoils one thing and sees that one check notices."""

from datetime import timedelta

import msgspec
import pytest

from talaria.demo.checks import Check, Evidence, check_all
from talaria.demo.figures import read_figures
from talaria.demo.query import Query
from talaria.demo.transcript import Event, Transcript
from tests.demo.analysis import analyse
from tests.demo.ground import TOKEN, YESTERDAY, world

TRUTH = world().truths[YESTERDAY]


def transcript(text: str, *more: Event, reason: str = "stop", step: int = 40) -> Transcript:
    made = Transcript()
    made.take(Event("r/0", "run_started", {"type": "run_started", "data": "r"}))
    for n in range(0, len(text), step):
        made.take(Event(f"r/t{n}", "token", {"type": "token", "data": text[n : n + step]}))
    for event in more:
        made.take(event)
    made.take(Event("r/9", "finish", {"type": "finish", "reason": reason}))
    return made


def asked(service: str = "") -> Query:
    return Query(TRUTH.span.start, TRUTH.span.end, 1, {"service": service} if service else {})


@pytest.fixture
async def right(monkeypatch: pytest.MonkeyPatch) -> Evidence:
    text = (await analyse(world(), monkeypatch))[-1].text
    logs = tuple(asked(service) for service in TRUTH.errors)
    return Evidence(transcript(text), transcript(text, step=7), 500, (asked(),), logs, TOKEN)


def failed(evidence: Evidence) -> list[str]:
    return [check.name for check in check_all(evidence, TRUTH) if not check.passed]


def spoilt(evidence: Evidence, old: str, new: str) -> Evidence:
    text = evidence.streamed.text
    assert old in text
    return msgspec.structs.replace(
        evidence, streamed=transcript(text.replace(old, new)), replayed=transcript(text.replace(old, new))
    )


def test_nothing_fails_when_all_is_right(right: Evidence) -> None:
    assert failed(right) == []
    assert {type(check) for check in check_all(right, TRUTH)} == {Check}


def test_a_gap_and_a_duplicate_in_the_text_are_noticed(right: Evidence) -> None:
    text = right.streamed.text
    gap, twice = transcript(text[:99] + text[100:]), transcript(text[:99] + text[98:])
    for spoiled in (gap, twice):
        assert failed(msgspec.structs.replace(right, streamed=spoiled)) == [
            "the joined text has no gap and no duplicate"
        ]


def test_an_event_that_came_twice_is_noticed(right: Evidence) -> None:
    again = transcript(right.streamed.text, Event("r/0", "run_started", {"type": "run_started", "data": "r"}))
    assert failed(msgspec.structs.replace(right, streamed=again)) == ["no event came twice"]


def test_an_end_that_is_no_answer_is_noticed(right: Evidence) -> None:
    ended = transcript(right.streamed.text, reason="timeout")
    assert failed(msgspec.structs.replace(right, streamed=ended)) == ["the run ended with an answer"]


def test_a_stream_that_was_never_cut_is_noticed(right: Evidence) -> None:
    assert failed(msgspec.structs.replace(right, cut_at=0)) == ["the connection broke in the middle of the text"]


def test_a_secret_in_the_stream_is_noticed(right: Evidence) -> None:
    leak = transcript(right.streamed.text, Event("r/8", "notice", {"type": "notice", "data": f"as {TOKEN}"}))
    assert failed(msgspec.structs.replace(right, streamed=leak)) == [
        "the token of the services is nowhere in the stream"
    ]


def test_another_range_of_time_is_noticed(right: Evidence) -> None:
    early = msgspec.structs.replace(asked(), start=TRUTH.span.start - timedelta(hours=8))
    name = "alerts service asked for exactly that day"
    assert failed(msgspec.structs.replace(right, alert_queries=(asked(), early))) == [name]
    assert failed(msgspec.structs.replace(right, alert_queries=())) == [name]


def test_a_service_whose_log_nobody_read_is_noticed(right: Evidence) -> None:
    logs = right.log_queries[1:]
    assert failed(msgspec.structs.replace(right, log_queries=logs)) == ["logs service asked for exactly that day"]


def test_wrong_figures_are_noticed(right: Evidence) -> None:
    told = read_figures(right.streamed.text)
    assert told.alerts is not None
    spoils = {
        "report: alerts in total": (f'"alerts": {told.alerts}', f'"alerts": {told.alerts + 1}'),
        "report: alerts by severity": ('"bySeverity": {"critical": ', '"bySeverity": {"critical": 1'),
        "report: top services": ('"topServices": [["', '"topServices": [["x-'),
        "report: the day": ('"date": "2026-03-09"', '"date": "2026-03-10"'),
        "report: errors in the logs": ('"errors": {"', '"errors": {"x-'),
    }
    for name, (old, new) in spoils.items():
        assert failed(spoilt(right, old, new)) == [name]


def test_an_incident_with_a_wrong_cause_or_time_is_noticed(right: Evidence) -> None:
    incident = TRUTH.incidents[0]
    name = f"report: {incident.id} from start to end, and its root cause"
    assert failed(spoilt(right, incident.code, "a guess")) == [name]
    assert failed(spoilt(right, f'"id": "{incident.id}", "start": "2', f'"id": "{incident.id}", "start": "1')) == [name]
