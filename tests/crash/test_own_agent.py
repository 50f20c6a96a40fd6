"""kill -9 at every boundary of a turn of an agent of one's own: nothing is lost, nothing said or done twice."""

from pathlib import Path

import pytest

from talaria.journal.entries import AgentSaid, ApprovalRequested, StepFinished
from tests.crash.keeper import OWN, TOLD
from tests.crash.plans import Plan
from tests.crash.points import Kill
from tests.crash.runner import run_plans
from tests.crash.trial import DRAWN, Outcome

BATCHES = 4
FAMILIES = ("append.", "put.", "tool.", "model.", "lease.")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def assert_said_once(outcome: Outcome) -> None:
    """Every word, model's answer and question is on record once, and no client was ever told to go back."""
    said = [(entry.kind, entry.data) for _, entry in outcome.stored.entries if isinstance(entry, AgentSaid)]
    assert (str(outcome.plan), tuple(said)) == (str(outcome.plan), TOLD)
    steps = [entry.step for _, entry in outcome.stored.entries if isinstance(entry, StepFinished)]
    assert (str(outcome.plan), len(steps), len(set(steps))) == (str(outcome.plan), 2, 2)
    assert len(outcome.stored.of(ApprovalRequested)) == 1
    assert outcome.transcripts[OWN].rewinds == 0


@pytest.mark.parametrize("batch", range(BATCHES))
async def test_kill_9_in_an_agent_of_ones_own_loses_nothing_and_does_nothing_twice(tmp_path: Path, batch: int) -> None:
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    (whole,) = await run_plans(tmp_path / "whole", [Plan(0, turns=(OWN,))])
    assert_said_once(whole)
    boundaries = [point.split("#") for point in whole.points if point.startswith(FAMILIES)]
    kills = [Kill(point, int(nth)) for point, nth in boundaries]
    assert len(kills) > 60
    plans = [Plan(seed, (kill,), turns=(OWN,)) for seed, kill in enumerate(kills, 1)][batch::BATCHES]
    twice = [Plan(DRAWN + plan.seed, (*plan.kills, Kill("lease.acquired")), turns=(OWN,)) for plan in plans[::5]]
    for outcome in await run_plans(tmp_path / "killed", plans + twice):
        assert_said_once(outcome)
        assert outcome.kills >= 1, str(outcome.plan)
