"""The report on a run, as text: its rounds as a table, and what was odd."""

from collections.abc import Iterator, Sequence
from typing import Any

from talaria.diagnosis.calls import of_calls
from talaria.diagnosis.course import Course, CourseCall, CourseRound, course_of
from talaria.diagnosis.offers import of_offers
from talaria.diagnosis.pace import of_pace
from talaria.diagnosis.words import count, excerpt, seconds
from talaria.journal.recorded import RecordedRun
from talaria.tools.declaration import Tool

HEAD = ("round", "model", "tokens in", "out", "call", "took", "result")


def report(run: RecordedRun, registered: Sequence[Tool[..., Any]] = ()) -> str:
    """Return the report; `registered` are the tools of the deployment, where they are known."""
    course = course_of(run)
    found = [*of_calls(course), *of_offers(course, registered), *of_pace(course)]
    lines = [*_head(course), "", *_table([HEAD, *_rows(course)]), ""]
    lines += [f"- {finding}" for finding in found] or ["Nothing odd was found."]
    return "\n".join(lines)


def _head(course: Course) -> Iterator[str]:
    run, end = course.run, course.end
    model = f", model '{run.turn.model}'" if run.turn.model else ""
    yield f"Run {run.turn.run} of session '{run.key.session}': agent '{run.turn.agent}'{model}"
    stands = "not over" if end is None else f"{end.error}: {end.message}" if end.error else end.reason
    rounds, calls = count(len(course.rounds), "rounds"), count(len(course.calls), "calls")
    parked = f", of which {seconds(course.parked_ms)} waiting" if course.parked_ms else ""
    yield f"{stands}; {rounds}, {calls}, {seconds(course.elapsed_ms)}{parked}"
    if course.steps:
        yield f"an agent of one's own, which asked models {count(len(course.steps), 'times')}"


def _rows(course: Course) -> Iterator[tuple[str, ...]]:
    for each in course.rounds:
        model = _model(each)
        for at, call in enumerate(each.calls):
            yield (*(model if at == 0 else ("",) * len(model)), *_call(call))
        if not each.calls:
            yield (*model, excerpt(_said(each), 40), "", "")


def _model(each: CourseRound) -> tuple[str, ...]:
    usage = each.answer.usage
    mark = "~" if usage.estimated else ""
    took = seconds(each.answer.duration_ms)
    return (str(each.number), took, f"{mark}{usage.input_tokens:,}", f"{mark}{usage.output_tokens:,}")


def _said(each: CourseRound) -> str:
    return f"({each.answer.error})" if each.answer.error else f"“{each.answer.message.text}”"


def _call(call: CourseCall) -> tuple[str, ...]:
    done = call.finished
    if done is None:
        return (call.name, "", "none yet")
    size = count(len(done.text), "characters") + (", shortened" if done.truncated else "")
    return (call.name, seconds(done.duration_ms), size if done.outcome == "ok" else done.outcome)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
