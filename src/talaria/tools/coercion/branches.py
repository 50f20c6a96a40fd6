"""Coerces through $ref, allOf, anyOf and oneOf. A value that fits a branch stays; one that two want is refused."""

from typing import Any
from urllib.parse import unquote

from talaria.tools.coercion.parts import Compiler, Notes, Path, Place, Step, distinct
from talaria.tools.problems import listed_values, shortened

ENOUGH = 500
"""So many attempts at branches in one call: schemas that contain themselves could take for ever."""


def reference_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces to the subschema that `$ref` points at, inside the same document."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or reference[:1] != "#" or reference[1:2] not in ("", "/"):
        return None
    return compiler.step(place._replace(pointer=unquote(reference[1:])))


def all_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces to every branch of `allOf`, one after the other."""
    steps = [compiler.step(place.down("allOf", index)) for index in range(_count(schema, "allOf"))]
    if not steps:
        return None

    def step(value: Any, at: Path, notes: Notes) -> Any:
        for each in steps:
            value = each(value, at, notes)
        return value

    return step


def any_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces to a branch of `anyOf`."""
    return _union(compiler, schema, place, "anyOf")


def one_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces to a branch of `oneOf`."""
    return _union(compiler, schema, place, "oneOf")


def _union(compiler: Compiler, schema: dict[str, Any], place: Place, keyword: str) -> Step | None:
    branches = [place.down(keyword, index) for index in range(_count(schema, keyword))]
    real = [each for each in branches if compiler.at(each.pointer) != {"type": "null"}]
    if not real:
        return None
    is_one = len(real) == 1
    pairs = [(each, compiler.step(each._replace(wraps=place.wraps and is_one))) for each in branches]

    def step(value: Any, at: Path, notes: Notes) -> Any:
        if any(compiler.fits(branch.pointer, value) for branch in branches) or next(notes.trials) > ENOUGH:
            return value
        attempts = [_attempt(value, at, notes, each) for _, each in pairs]
        fitting = [
            attempt
            for attempt, (branch, _) in zip(attempts, pairs, strict=True)
            if compiler.fits(branch.pointer, attempt[0])
        ]
        if not fitting and is_one:
            fitting = [attempts[branches.index(real[0])]]
        return _settle(value, at, notes, fitting)

    return step


def _attempt(value: Any, at: Path, notes: Notes, step: Step) -> tuple[Any, Notes]:
    trial = notes.trial()
    return step(value, at, trial), trial


def _settle(value: Any, at: Path, notes: Notes, fitting: list[tuple[Any, Notes]]) -> Any:
    """Take what the fitting branches agree about."""
    found = distinct([reading for reading, _ in fitting])
    if len(found) > 1:
        notes.refused(at, f"{shortened(value)} could be {listed_values(found)}; write the one that is meant")
    if len(found) != 1:
        return value
    notes.take(fitting[0][1])
    return found[0]


def _count(schema: dict[str, Any], keyword: str) -> int:
    branches = schema.get(keyword)
    return len(branches) if isinstance(branches, list) else 0  # pyright: ignore[reportUnknownArgumentType]
