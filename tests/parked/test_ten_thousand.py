"""Ten thousand runs wait for people in one process, on SQLite."""

from typing import Any

import pytest

from benchmarks import child
from benchmarks.mock_model import Play, mock_model
from benchmarks.parked import waiting

RUNS, DECISIONS = 10_000, 200
AT_WORK = ("Task", "Lock", "Owner", "OpenRun", "SessionWriter")
KEPT_WARM = ("SessionState", "LiveBuffer", "Frame", "Event")


@pytest.mark.slow
def test_ten_thousand_parked_runs_take_little_and_go_on_within_a_second() -> None:
    with mock_model() as origin:  # the runs are in a process of their own, whose clock is moved instead of waited for
        url = Play(calls=1).url(origin)
        story = child.run(waiting, url=url, durable=True, runs=RUNS, decisions=DECISIONS, apart=0.01)
    they_take_little_while_they_are_warm(story)
    nothing_but_rows_is_left_of_them_after_that(story)
    nothing_is_held_for_them(story)
    they_go_on_at_once(story)


def they_take_little_while_they_are_warm(story: dict[str, Any]) -> None:
    assert story["warm_kb"] <= 20


def nothing_but_rows_is_left_of_them_after_that(story: dict[str, Any]) -> None:
    assert max(story["cold_kinds"][kind] for kind in KEPT_WARM) <= 0
    assert story["cold_objects"] <= 1  # the store remembers the last seq of a bounded number of sessions
    assert story["cold_blocks"] <= 8


def nothing_is_held_for_them(story: dict[str, Any]) -> None:
    for when in ("warm", "cold"):
        assert {kind: story[f"{when}_kinds"][kind] for kind in AT_WORK} == dict.fromkeys(AT_WORK, 0)
        assert (story[f"{when}_tasks"], story[f"{when}_threads"]) == (0, 0)
    assert story["held"] == 0  # leases


def they_go_on_at_once(story: dict[str, Any]) -> None:
    for when in ("warm", "cold"):
        wakes = story[f"{when}_wakes"]
        assert len(wakes) == DECISIONS
        assert max(wakes) <= 1_000  # ms
    assert story["left"] == RUNS - 2 * DECISIONS
