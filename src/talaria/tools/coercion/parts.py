"""What the parts of coercion have in common: steps, the places of a schema they stand for, and what they note."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple, Protocol

from talaria.tools.problems import Problem, dotted

Path = tuple[str | int, ...]
MISS: Any = object()
"""No reading of the value as what is wanted."""


class Notes:
    """What was done to one call's arguments, and why some of it was not."""

    __slots__ = ("problems", "repairs", "trials")

    def __init__(self, trials: Iterator[int] | None = None) -> None:
        self.repairs: list[str] = []
        self.problems: dict[str, Problem] = {}
        self.trials = trials or count()

    def repaired(self, at: Path, what: str) -> None:
        """Something at this path was changed."""
        self.repairs.append(f"{dotted(at)}: {what}")

    def refused(self, at: Path, why: str) -> None:
        """Something at this path could mean several things, or none."""
        path = dotted(at)
        self.problems.setdefault(path, Problem(path, why))

    def trial(self) -> "Notes":
        """Return notes for an attempt that may be given up."""
        return Notes(self.trials)

    def take(self, trial: "Notes") -> None:
        """Keep what an attempt noted."""
        self.repairs += trial.repairs
        self.problems = {**trial.problems, **self.problems}


Step = Callable[[Any, Path, Notes], Any]


class Place(NamedTuple):
    """A subschema. `wraps`: a single value may stand for a list here; `parameter`: whose aliases hold here."""

    pointer: str
    wraps: bool = False
    parameter: str = ""

    def down(self, *keys: str | int) -> "Place":
        """Return the place below, of which the same holds."""
        inner = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)
        return self._replace(pointer=self.pointer + inner)


class Compiler(Protocol):
    """What makes steps of subschemas."""

    @property
    def aliases(self) -> Mapping[str, Mapping[str, Any]]:
        """Other words for values, by parameter."""
        ...

    def at(self, pointer: str) -> Any:
        """Return the subschema at a JSON pointer."""
        ...

    def step(self, place: Place) -> Step:
        """Return what coerces to a subschema."""
        ...

    def fits(self, pointer: str, value: Any) -> bool:
        """Whether a value is valid against a subschema as it is."""
        ...


def keep(value: Any, at: Path, notes: Notes) -> Any:
    """Leave a value as it is."""
    del at, notes
    return value


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON: 1 is 1.0, but not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(each, other[key]) for key, each in one.items())  # pyright: ignore[reportUnknownVariableType]
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))  # pyright: ignore[reportUnknownArgumentType]
    return one == other


def distinct(values: list[Any]) -> list[Any]:
    """Return the values that differ, in order."""
    kept: list[Any] = []
    for value in values:
        if not any(same(value, each) for each in kept):
            kept.append(value)
    return kept
