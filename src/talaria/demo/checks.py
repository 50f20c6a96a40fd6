"""Checks the report against the truth, what the services were asked, and what came through the broken stream."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from talaria.demo.data import Incident, Truth
from talaria.demo.figures import Figures, ReportedIncident, read_figures
from talaria.demo.query import Query
from talaria.demo.records import Span
from talaria.demo.transcript import Transcript


class Check(msgspec.Struct, frozen=True, gc=False):
    """One line of the check list."""

    name: str
    passed: bool
    detail: str = ""


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """What a run left behind: as its client got it, as it is replayed, and what each service was asked for.

    `cut_at`: after how many characters of text the connection was closed, 0 for never.
    """

    streamed: Transcript
    replayed: Transcript
    cut_at: int
    alert_queries: tuple[Query, ...]
    log_queries: tuple[Query, ...]
    secret: str


def check_all(evidence: Evidence, truth: Truth) -> list[Check]:
    """Return the whole check list."""
    return [
        *stream_checks(evidence),
        range_check("alerts service asked for exactly that day", evidence.alert_queries, truth.span, {""}),
        range_check("logs service asked for exactly that day", evidence.log_queries, truth.span, set(truth.errors)),
        *figure_checks(read_figures(evidence.streamed.answer), truth),
    ]


def stream_checks(evidence: Evidence) -> list[Check]:
    """Did the stream end well, and is what came in two parts the same as what comes in one?"""
    streamed, replayed = evidence.streamed, evidence.replayed
    end = streamed.end
    how = "" if end is None else f"{end.type}/{end.body.get('reason', '')}"
    ids = Counter(event.id for event in streamed.events if event.id)
    repeated = [id_ for id_, times in ids.items() if times > 1]
    same = (streamed.text, streamed.reasoning) == (replayed.text, replayed.reasoning) and bool(streamed.text)
    said = str([event.body for event in streamed.events])
    return [
        Check("the run ended with an answer", how == "finish/stop", how or "it never ended"),
        Check(
            "the connection broke in the middle of the text", 0 < evidence.cut_at < len(streamed.text), _cut(evidence)
        ),
        Check("no event came twice", bool(ids) and not repeated, f"{len(ids)} ids"),
        Check("the joined text has no gap and no duplicate", same, f"{len(streamed.text)} characters, as replayed"),
        Check("the token of the services is nowhere in the stream", evidence.secret not in said),
    ]


def _cut(evidence: Evidence) -> str:
    return f"after {evidence.cut_at} of {len(evidence.streamed.text)} characters, {evidence.streamed.rewinds} rewinds"


def range_check(name: str, queries: tuple[Query, ...], span: Span, services: set[str]) -> Check:
    """Was the day asked for, whole, of every service ("" for all at once), and nothing outside it?"""
    outside = [query for query in queries if (query.start, query.end) != (span.start, span.end)]
    missing = services - {query.filters.get("service", "") for query in queries}
    detail = f"{len(queries)} requests, {span.start:%Y-%m-%dT%H:%M:%SZ} to {span.end:%Y-%m-%dT%H:%M:%SZ}"
    if outside:
        detail = f"one asked for {outside[0].start.isoformat()} to {outside[0].end.isoformat()}"
    elif missing:
        detail = f"nobody asked for {', '.join(sorted(missing - {''})) or 'all services at once'}"
    return Check(name, bool(queries) and not outside and not missing, detail)


def figure_checks(told: Figures, truth: Truth) -> list[Check]:
    """Are the figures of the report right?"""
    top = sorted(truth.services.values(), reverse=True)[:3]
    right_top = [count for _, count in told.top] == top and all(truth.services.get(name) == n for name, n in told.top)
    return [
        _equal("report: the day", str(told.day or ""), str(truth.day)),
        _equal("report: alerts in total", str(told.alerts or ""), str(truth.alerts)),
        _equal("report: alerts by severity", _listed(told.severities), _listed(truth.severities)),
        Check("report: top services", right_top, _listed(dict(told.top)) or "it says nothing"),
        _equal("report: incidents", ", ".join(sorted(told.incidents)), ", ".join(each.id for each in truth.incidents)),
        *(_incident(told.incidents.get(incident.id), incident) for incident in truth.incidents),
        _equal("report: errors in the logs", _listed(told.errors), _listed(truth.errors)),
    ]


def _equal(name: str, told: str, true: str) -> Check:
    return Check(name, told == true, told if told == true else f"it says {told or 'nothing'}, right is {true}")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _incident(told: ReportedIncident | None, true: Incident) -> Check:
    name = f"report: {true.id} from start to end, and its root cause"
    if told is None:
        return Check(name, passed=False, detail="not in the report")
    right = (told.start, told.end) == (true.start, true.end) and true.code.lower() in told.cause.lower()
    return Check(name, right, f"{told.start} to {told.end}, {told.cause[:40]}…")
