"""Runs plans side by side, and fails with the reports of those that broke something."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.crash.invariants import broken
from tests.crash.plans import plain
from tests.crash.report import report, unfinished
from tests.crash.trial import Bench, Outcome, Plan, open_bench

AT_ONCE = 3


async def run_plans(folder: Path, plans: Sequence[Plan]) -> list[Outcome]:
    """Run every plan.

    Raises:
        AssertionError: some broke what must hold; says all there is to know of the first few.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    async with open_bench(folder) as bench:
        done = await asyncio.gather(*(_gated(gate, bench, plan) for plan in plans))
    reports = [words for _, words in done if words]
    assert not reports, f"{len(reports)} of {len(plans)} trials failed\n\n" + "\n\n".join(reports[:3])
    return [outcome for outcome, _ in done if outcome is not None]


async def _gated(gate: asyncio.Semaphore, bench: Bench, plan: Plan) -> tuple[Outcome | None, str]:
    async with gate:
        outcome, words = await _judged(bench, plan, 0)
        if outcome is None or words or outcome.kills >= plan.promised:
            return outcome, words
        return await _judged(bench, plain(plan), 1)


async def _judged(bench: Bench, plan: Plan, attempt: int) -> tuple[Outcome | None, str]:
    try:
        outcome = await bench.run(plan, attempt)
    except Exception as error:  # noqa: BLE001 - a trial's boundary: the others go on
        return None, unfinished(plan, bench.folder_of(plan, attempt), error)
    faults = broken(outcome)
    return outcome, report(outcome, faults) if faults else ""
