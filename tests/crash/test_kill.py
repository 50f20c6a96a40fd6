"""kill -9 at every step boundary loses nothing and does nothing twice."""

from pathlib import Path

import pytest

from tests.crash.boundaries import boundaries, counted
from tests.crash.plans import departures, plans, stops
from tests.crash.runner import run_plans
from tests.crash.trial import Plan

BATCHES, STOPS = 16, 4
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_there_are_at_least_200_kills() -> None:
    assert sum(plan.promised for plan in plans()) >= 200


async def test_the_boundaries_are_those_of_an_uninterrupted_run(tmp_path: Path) -> None:
    (outcome,) = await run_plans(tmp_path, [Plan(0)])
    reached = set(outcome.points)
    assert [str(kill) for kill in boundaries() if str(kill) not in reached] == []
    families = ("append.", "put.", "tool.", "model.a", "start.", "lease.")
    known = {f"{point}#{nth}" for point, count in counted() for nth in range(1, count + 1)}
    assert {point for point in reached if point.startswith(families)} - known == set()


@pytest.mark.parametrize("batch", range(BATCHES))
async def test_kill_9_at_any_boundary_loses_nothing_and_does_nothing_twice(tmp_path: Path, batch: int) -> None:
    mine = plans()[batch::BATCHES]
    outcomes = await run_plans(tmp_path, mine)
    assert [str(each.plan) for each in outcomes if each.kills < each.plan.promised] == []


@pytest.mark.parametrize("batch", range(STOPS))
async def test_an_orderly_stop_at_any_moment_loses_nothing_and_does_nothing_twice(tmp_path: Path, batch: int) -> None:
    await run_plans(tmp_path, stops()[batch::STOPS])


async def test_clients_that_come_and_go_get_everything_once(tmp_path: Path) -> None:
    outcomes = await run_plans(tmp_path, departures())
    assert {outcome.kills for outcome in outcomes} == {0}
