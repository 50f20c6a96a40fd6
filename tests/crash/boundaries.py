"""The step boundaries of the scenario: how often a run that nothing interrupts reaches each point; a test counts."""

from collections.abc import Iterator

from tests.crash.points import Kill

ENTRIES = {
    "context_set": 1,
    "turn_started": 2,
    "model_finished": 5,
    "tool_started.stock": 4,
    "tool_finished.stock": 4,
    "tool_started.reserve": 1,
    "tool_finished.reserve": 1,
    "tool_started.charge": 2,
    "tool_finished.charge": 2,
    "approval_requested.refund": 1,
    "run_parked": 1,
    "run_resumed.woken": 1,
    "approval_resolved": 1,
    "tool_started.refund": 1,
    "tool_finished.refund": 1,
    "tool_started.ship": 1,
    "tool_finished.ship": 1,
    "tool_started.label": 1,
    "tool_finished.label": 1,
    "run_finished": 2,
}
"""An append is before, durable (and its owner does not know), published. Several entries may be in one."""

LETTERS = {"turn": 2, "decision": 1}
TOOLS = {"stock": 4, "reserve": 1, "charge": 2, "refund": 1, "ship": 1, "label": 1}
"""Before and after what a tool does."""

OTHERS = {
    "start.began": 1,
    "start.opened": 1,
    "start.waiting": 1,
    "start.listening": 1,
    "lease.acquired": 3,
    "model.asked": 5,
    "model.answered": 5,
    "http.before.stream.start": 2,
    "http.after.stream.start": 2,
    "http.before.approval.start": 1,
    "http.after.approval.start": 1,
    "http.before.approval.body": 1,
    "http.torn.approval.body": 1,
    "http.after.approval.body": 1,
}
DELTAS = (1, 2, 3, 10, 25, 40, 60, 61, 62, 63, 100, 150, 200, 250, 300, 340, 360, 374)
WRITES = (1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 24)
"""Some of the deltas, which are many, and of the writes, whose number differs from run to run."""


def counted() -> Iterator[tuple[str, int]]:
    """Every point whose number is the same in every run, and that number."""
    for name, count in ENTRIES.items():
        for moment in ("before", "durable", "published"):
            yield f"append.{moment}.{name}", count
    for name, count in LETTERS.items():
        yield from ((f"put.{moment}.{name}", count) for moment in ("before", "after"))
    for name, count in TOOLS.items():
        yield from ((f"tool.{moment}.{name}", count) for moment in ("before", "after"))
    yield from OTHERS.items()


def boundaries() -> list[Kill]:
    """A kill for every boundary."""
    kills = [Kill(point, nth) for point, count in counted() for nth in range(1, count + 1)]
    kills += [Kill("model.delta", nth) for nth in DELTAS]
    return kills + [Kill(f"http.{moment}.stream.body", nth) for moment in ("before", "torn", "after") for nth in WRITES]


RECOVERY = (
    Kill("start.began"),
    Kill("start.opened"),
    Kill("start.waiting"),
    Kill("start.listening"),
    Kill("lease.acquired"),
    Kill("journal.read"),
    Kill("append.before.run_resumed.recovered"),
    Kill("append.durable.run_resumed.recovered"),
    Kill("append.published.run_resumed.recovered"),
    Kill("http.before.events.start"),
    Kill("http.after.events.start"),
    Kill("http.torn.events.body"),
    Kill("http.after.events.body"),
)
"""Where a server is killed that has just come after one that was killed."""
