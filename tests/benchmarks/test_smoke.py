"""Every benchmark runs, in a tiny size: that its figures are there, not what they are."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import pytest

from benchmarks.__main__ import MEASURES
from benchmarks.figures import Figure, compared, plain, table, write
from benchmarks.mock_model import mock_model
from benchmarks.size import TINY
from tests.services import require

NEEDS = {"containers": "docker"}
"""Benchmark → the service it is about."""


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with mock_model() as origin:
        yield origin


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_gives_figures(origin: str, name: str) -> None:
    if name in NEEDS:
        require(NEEDS[name])
    figures = MEASURES[name].measure(origin, TINY)
    assert figures
    for figure in figures:
        assert isfinite(figure.value), figure
        assert figure.factor is None or figure.factor > 0, figure


def test_a_figure_is_over_when_its_factor_or_its_value_is() -> None:
    assert compared("a run", "ms", [6.2, 6.4, 9.0], [2.0, 2.0, 2.0], bound=3).is_over
    assert not compared("a run", "ms", [5.9, 5.8, 9.0], [2.0, 2.0, 2.0], bound=3).is_over
    assert plain("memory", "MB", [121.0], most=120).is_over
    assert not plain("memory", "MB", [121.0]).is_over


def test_the_factor_is_the_median_of_neighbours_whatever_the_load_was() -> None:
    figure = compared("a run", "ms", [4.0, 40.0, 4.2], [2.0, 20.0, 2.0])
    assert figure.factor == 2.0


def test_a_table_shows_what_is_over() -> None:
    shown = table("Runs", [Figure("one", 3.14159, "ms", floor=1.0, factor=3.14159, bound=3, spread=0.1)])
    assert "| one | 3.14 ms | 1 | 3.14 | 10% | 3× | **over** |" in shown


def test_figures_are_written_as_json(tmp_path: Path) -> None:
    path = write({"runs": [Figure("one", 1.0, "ms")]}, tmp_path)
    assert '"is_over": false' in path.read_text("utf-8")
