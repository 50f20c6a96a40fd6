"""What was odd about a run's tool calls: repeated, empty, refused, failed, cut off, never ended, waiting for people."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

from talaria.diagnosis.course import Course, CourseCall
from talaria.diagnosis.words import count, excerpt, names, seconds
from talaria.journal.entries import ToolFinished
from talaria.tools.json_mending import Unreadable
from talaria.tools.json_text import read_object
from talaria.tools.problems import is_refusal

_NOTHING_SAID = frozenset(("", "null", "none", "undefined", "nan", "n/a", "(no output)"))


def of_calls(course: Course) -> Iterator[str]:
    """Yield a sentence for everything that was odd."""
    yield from _repeated(course.calls)
    yield from _empty(course.calls)
    yield from _never_filled(course.calls)
    yield from _wrong_arguments(course.calls)
    yield from _not_run(course.calls)
    yield from _without_end(course)
    yield from _waited(course.calls)


def _by_name(calls: list[CourseCall]) -> dict[str, list[CourseCall]]:
    groups: dict[str, list[CourseCall]] = defaultdict(list)
    for call in calls:
        groups[call.name].append(call)
    return groups


def _repeated(calls: list[CourseCall]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[CourseCall]] = defaultdict(list)
    for call in calls:
        groups[call.name, _same(call.arguments)].append(call)
    for (name, arguments), same in groups.items():
        if len(same) < 2:
            continue
        results = {call.finished.text for call in same if call.finished is not None}
        got = "each got the same result" if len(results) == 1 else "the results differ"
        yield (
            f"'{name}' was called {len(same)} times with the same arguments, {excerpt(arguments)}; {got}. "
            "Say in the tool's description when one call is enough, or what a result without the answer means."
        )


def _same(arguments: str) -> str:
    """Arguments as text that is the same for the same values."""
    try:
        return json.dumps(read_object(arguments)[0], sort_keys=True, ensure_ascii=False)
    except (Unreadable, RecursionError, ValueError):
        return arguments


def _empty(calls: list[CourseCall]) -> Iterator[str]:
    for name, group in _by_name(calls).items():
        empty = [call for call in group if call.finished and call.finished.outcome == "ok" and _is_empty(call)]
        if empty:
            yield (
                f"'{name}' gave an empty result in {len(empty)} of {count(len(group), 'calls')}, first for "
                f"{excerpt(empty[0].arguments)}. A model cannot tell 'nothing found' from 'not filled in': "
                "return a sentence that says which."
            )


def _is_empty(call: CourseCall) -> bool:
    text = "" if call.finished is None else call.finished.text.strip()
    return text.lower() in _NOTHING_SAID or _holds_nothing(_value(text))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _holds_nothing(value: Any) -> bool:
    """Whether a value, however it is nested, has nothing in it; a number or a boolean alone is something."""
    if isinstance(value, dict):
        return all(each == 0 or _holds_nothing(each) for each in cast("dict[str, Any]", value).values())
    if isinstance(value, list):
        return all(map(_holds_nothing, cast("list[Any]", value)))
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING_SAID)


def _never_filled(calls: list[CourseCall]) -> Iterator[str]:
    """Fields that every result of a tool has, and none has filled in, while other fields are."""
    for name, group in _by_name(calls).items():
        rows = [row for call in group if call.finished and not _is_empty(call) for row in _rows(call.finished.text)]
        fields = [key for key in (rows[0] if rows else ()) if all(_holds_nothing(row.get(key)) for row in rows)]
        if len(rows) > 1 and fields:
            yield f"'{name}' never filled in {names(fields)} in the {len(rows)} objects that it returned."


def _rows(text: str) -> list[dict[str, Any]]:
    value = _value(text)
    many = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", row) for row in many if isinstance(row, dict)]


def _wrong_arguments(calls: list[CourseCall]) -> Iterator[str]:
    for name, group in _by_name(calls).items():
        wrong = [call.finished for call in group if call.finished is not None and _is_misfit(call.finished)]
        if wrong:
            problems = "; ".join(line.removeprefix("- ") for line in wrong[0].text.splitlines()[1:])
            yield (
                f"{len(wrong)} of {count(len(group), 'calls')} of '{name}' had arguments that do not fit: "
                f"{excerpt(problems, 200)}. Look at the names, types and descriptions of its parameters; "
                "give an example in them."
            )
        mended = sum(bool(call.repairs) for call in group)
        if mended:
            yield f"{count(mended, 'calls')} of '{name}' ran with arguments that had to be mended first."


def _is_misfit(done: ToolFinished) -> bool:
    return done.outcome == "refused" and is_refusal(done.text)


def _not_run(calls: list[CourseCall]) -> Iterator[str]:
    for call in calls:
        done = call.finished
        if done is None or done.outcome == "ok" or _is_misfit(done):
            continue
        how = {"refused": "was refused", "error": "failed", "unknown": "has an unknown outcome"}.get(
            done.outcome, f"was {done.outcome}"
        )
        yield f"A call of '{call.name}' {how}: {excerpt(done.text, 200)}"


def _without_end(course: Course) -> Iterator[str]:
    for call in course.calls:
        if call.finished is None:
            stands = "waits for a person" if call.asked is not None and call.resolved is None else "has no result"
            yield f"A call of '{call.name}' {stands}{' yet' if course.end is None else ''}."
    cut = sum(each.answer.cut_calls for each in course.rounds)
    if cut:
        yield f"{count(cut, 'calls')} came incomplete, cut off by the limit of tokens; raise maxTokens."


def _waited(calls: list[CourseCall]) -> Iterator[str]:
    waits = [call for call in calls if call.waited_ms is not None]
    for call in waits:
        assert call.resolved is not None
        yield f"A call of '{call.name}' waited {seconds(call.waited_ms or 0)} for a person: {call.resolved.outcome}."
