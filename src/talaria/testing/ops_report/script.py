"""The script: for every request, what an analyst would do next. All it knows stands in the request."""

from typing import Any, Final

from talaria.testing.ops_report.conversation import Answered, Brief, Day, read_answers, read_brief, read_day
from talaria.testing.ops_report.findings import find
from talaria.testing.ops_report.writing import write_report
from talaria.testing.steps import Step

PACE: Final = 0.012
_CHUNK: Final = 7
_LOST: Final = "I cannot tell which day you mean: your message does not say when it was sent."
Call = tuple[str, dict[str, Any]]


def analyst(body: dict[str, Any]) -> Step:
    """Answer a request: ask for the first page of everything, then for the other pages, then write the report."""
    messages = body.get("messages", [])
    day, brief = read_day(messages), read_brief(messages)
    if day is None:
        return _step(text=_LOST)
    answers = list(read_answers(messages))
    if not answers:
        return _ask(day, brief)
    more = _missing_pages(answers)
    return _ask_again(answers, more) if more else _report(day, brief, answers)


def _step(*, text: str = "", reasoning: str = "", calls: tuple[Call, ...] = ()) -> Step:
    said = len(text) + len(reasoning)
    return Step(text, reasoning, calls, chunk=_CHUNK, pace=PACE, usage=(1500, said // 3))


def _ask(day: Day, brief: Brief) -> Step:
    span = {"start": day.start.isoformat(), "end": day.end.isoformat()}
    calls: list[Call] = [("query_alerts", span)]
    calls += [("query_logs", {"service": service, **span, "level": "ERROR"}) for service in brief.services]
    calls += [("query_logs", {"service": brief.notes, **span})] if brief.notes else []
    reasoning = (
        f'The message ends with "{day.sent}", so the day that is meant is {day.start:%A %Y-%m-%d}: from '
        f"{span['start']} up to {span['end']}. I need all alerts, the errors of {len(brief.services)} services, "
        "and the notes of the people on call. None of these calls depends on another, so I make them at the same time."
    )
    return _step(text=f"I look up {day.start:%Y-%m-%d}.\n", reasoning=reasoning, calls=tuple(calls))


def _missing_pages(answers: list[Answered]) -> list[Call]:
    """The pages that answers say there are and that nobody has asked for."""
    asked = {_key(each.name, each.arguments) for each in answers}
    wanted = [
        (each.name, {**each.arguments, "page": number})
        for each in answers
        for number in range(2, (each.page or {}).get("pages", 1) + 1)
    ]
    missing = {_key(name, arguments): (name, arguments) for name, arguments in wanted}
    return [call for key, call in missing.items() if key not in asked]


def _key(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} {sorted(({'page': 1} | arguments).items())}"


def _ask_again(answers: list[Answered], more: list[Call]) -> Step:
    pages = sum((each.page or {}).get("pages", 0) for each in answers)
    reasoning = (
        f"{len(answers)} answers, of {pages} pages in all. I have the first page of each; {len(more)} are missing."
    )
    return _step(reasoning=reasoning, calls=tuple(more))


def _report(day: Day, brief: Brief, answers: list[Answered]) -> Step:
    found = find(answers, brief.services)
    names = ", ".join(each.id for each in found.incidents) or "none"
    reasoning = (
        f"That is every page. {found.repeated} records came twice, so by id there are {found.alerts} alerts. "
        f"Incidents: {names}. For their causes I take the notes that begin with RCA; the first guesses were wrong. "
        f"{len(found.flapping)} checks were flapping without an incident."
    )
    return _step(text=write_report(day, found), reasoning=reasoning)
