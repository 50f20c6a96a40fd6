"""What took a run's time and tokens: slow steps, growing prompts, attempts that came to nothing."""

from collections.abc import Iterator

from talaria.diagnosis.course import Course
from talaria.diagnosis.words import count, excerpt, names, seconds

SLOW_MS = 1_000
SLOW_SHARE = 0.25
GROWN_TOKENS = 2_000
LARGEST = 3


def of_pace(course: Course) -> Iterator[str]:
    """Yield a sentence for everything that was odd."""
    yield from _slow(course)
    yield from _growth(course)
    yield from _again(course)


def _slow(course: Course) -> Iterator[str]:
    total = course.elapsed_ms - course.parked_ms
    steps = [(each.answer.duration_ms, f"The model call of round {each.number}") for each in course.rounds]
    steps += [(each.finished.duration_ms, f"A call of '{each.name}'") for each in course.calls if each.finished]
    for ms, what in sorted(steps, reverse=True):
        if ms >= SLOW_MS and ms >= SLOW_SHARE * total:
            yield f"{what} took {seconds(ms)}, {min(100, round(100 * ms / max(1, total)))} % of the run's time."


def _growth(course: Course) -> Iterator[str]:
    sizes = [each.answer.usage.input_tokens for each in course.rounds]
    if len(sizes) < 2 or sizes[-1] - sizes[0] < GROWN_TOKENS or sizes[-1] < 2 * sizes[0]:
        return
    results = sorted(
        ((len(each.finished.text), each.name) for each in course.calls if each.finished is not None), reverse=True
    )
    large = names([f"{name}: {size:,}" for size, name in results[:LARGEST]])
    yield (
        f"The prompt grew from {sizes[0]:,} to {sizes[-1]:,} tokens in {len(sizes)} rounds. The largest results, in "
        f"characters: {large or 'none'}. Return less, in pages, or set result_limit."
    )


def _again(course: Course) -> Iterator[str]:
    for each in course.rounds:
        if each.retries:
            yield f"Round {each.number} took {count(each.retries, 'further attempts')}: the model was asked again."
        if each.answer.error:
            yield f"The model call of round {each.number} failed ({each.answer.error}): {each.answer.error_text}"
    for rejected in course.rejected:
        yield f"The answer of round {rejected.round} did not fit its schema: {excerpt(rejected.problem, 200)}"
    if course.recoveries:
        yield f"The process ended {count(course.recoveries, 'times')} while the run was at work; it was resumed."
