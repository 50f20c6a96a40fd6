"""Figures: what was measured, beside its floor and its bound; as a table for people and as JSON for machines."""

import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.machine import middle, ratio, spread

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One measured value. `factor` is how many times its floor it is; `bound` and `most` are what it may be at most.

    `most` bounds the value itself, `bound` the factor. `spread` is how far the rounds are apart, as a share of it.
    """

    name: str
    value: float
    unit: str
    floor: float | None = None
    factor: float | None = None
    bound: float | None = None
    most: float | None = None
    spread: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether it is over a bound."""
        too_dear = self.bound is not None and self.factor is not None and self.factor > self.bound
        return too_dear or (self.most is not None and self.value > self.most)


def compared(
    name: str, unit: str, values: Sequence[float], floors: Sequence[float], bound: float | None = None
) -> Figure:
    """A figure of several rounds, each with the floor of the same round; the factor is the median of theirs."""
    factors = ratio(list(values), list(floors))
    return Figure(
        name,
        middle(list(values)),
        unit,
        floor=middle(list(floors)),
        factor=middle(factors),
        bound=bound,
        spread=spread(factors),
    )


def plain(name: str, unit: str, values: Sequence[float], most: float | None = None) -> Figure:
    """A figure without a floor."""
    return Figure(name, middle(list(values)), unit, most=most, spread=spread(list(values)) if len(values) > 1 else None)


def table(title: str, figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = "\n".join(_row(figure) for figure in figures)
    head = f"\n## {title}\n\n| figure | measured | floor | × floor | spread | bound | |\n"
    return f"{head}| --- | --: | --: | --: | --: | --: | --- |\n{rows}\n"


def _row(figure: Figure) -> str:
    cells = (
        figure.name,
        f"{_number(figure.value)} {figure.unit}".strip(),
        _number(figure.floor),
        "" if figure.factor is None else f"{figure.factor:.2f}",
        "" if figure.spread is None else f"{figure.spread:.0%}",
        _bound(figure),
        "**over**" if figure.is_over else "",
    )
    return f"| {' | '.join(cells)} |"


def _bound(figure: Figure) -> str:
    if figure.bound is not None:
        return f"{figure.bound:g}×"
    return "" if figure.most is None else f"{figure.most:g} {figure.unit}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write(measured: dict[str, list[Figure]], folder: Path = RESULTS) -> Path:
    """Write all figures as JSON; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    figures = {
        name: [asdict(figure) | {"is_over": figure.is_over} for figure in each] for name, each in measured.items()
    }
    machine = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.processor()}
    path.write_text(json.dumps({"machine": machine, "measures": figures}, indent=2) + "\n", "utf-8")
    return path
