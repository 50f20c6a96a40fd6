"""Coerces to `type` and `format`: numbers, booleans, lists and objects in strings, dates, a value alone for a list."""

from collections.abc import Callable
from typing import Any

from talaria.tools.coercion import moments
from talaria.tools.coercion.clock import Unclear
from talaria.tools.coercion.parts import MISS, Compiler, Notes, Path, Place, Step, distinct
from talaria.tools.coercion.scalars import READINGS, kinds
from talaria.tools.problems import EXPECTED, listed_values, shortened

_SEPARATORS = frozenset(",;\n，；、")
_LIST = frozenset({"array"})
Reading = Callable[[Any], Any]


def type_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces to the types that a subschema names; a value of one of them stays as it is."""
    wanted, form = types_of(schema), schema.get("format", "")
    check = moments.CHECKS.get(form) if isinstance(form, str) else None
    if not wanted and check is None:
        return None
    readings: dict[str, Reading] = {name: READINGS[name] for name in wanted or ("string",) if name in READINGS}
    if check is not None and "string" in readings:
        readings["string"] = moments.READINGS[form]
    what = " or ".join(readings) if check is None else form

    def step(value: Any, at: Path, notes: Notes) -> Any:
        if (not wanted or not wanted.isdisjoint(kinds(value))) and (
            check is None or not isinstance(value, str) or check(value)
        ):
            return value
        return _read(value, at, notes, (readings, what))

    return _or_alone(compiler, place, step) if wanted - {"null"} == _LIST and place.wraps else step


def types_of(schema: dict[str, Any]) -> frozenset[str]:
    """Return the types that a subschema allows; an empty set where it names none."""
    named = schema.get("type", ())
    return frozenset([named] if isinstance(named, str) else named)


def _read(value: Any, at: Path, notes: Notes, wanted: tuple[dict[str, Reading], str]) -> Any:
    readings, what = wanted
    found, doubts = _all_readings(value, readings)
    if len(found) == 1:
        notes.repaired(at, f"{(kinds(value) or ('value',))[0]} to {what}")
        return found[0]
    if len(found) > 1:
        notes.refused(at, f"{shortened(value)} could be {listed_values(found)}; write the one that is meant")
    elif doubts and isinstance(value, str | int | float) and not isinstance(value, bool):
        notes.refused(at, f"expected {_shown(what)}, got {shortened(value)}: {doubts[0]}")
    return value


def _all_readings(value: Any, readings: dict[str, Reading]) -> tuple[list[Any], list[str]]:
    found: list[Any] = []
    doubts: list[str] = []
    for read in readings.values():
        try:
            found.append(read(value))
        except Unclear as error:
            doubts.append(str(error))
    return distinct([each for each in found if each is not MISS]), doubts


def _shown(form: str) -> str:
    return f"a {form} such as {EXPECTED[form]}"


def _or_alone(compiler: Compiler, place: Place, otherwise: Step) -> Step:
    """Let a value stand for the list that holds it alone, unless its text could be several or none."""

    def step(value: Any, at: Path, notes: Notes) -> Any:
        read = otherwise(value, at, notes)
        if read is not value or value is None or isinstance(value, list) or not _is_one(value):
            return read
        trial = notes.trial()
        alone = compiler.step(place._replace(wraps=False))([value], at, trial)
        if not compiler.fits(place.pointer, alone):
            return value
        notes.take(trial)
        notes.repaired(at, "a value alone to a list")
        return alone

    return step


def _is_one(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    text = value.strip()
    is_other = text.startswith(("[", "{")) or text.lower() in ("", "null", "none")
    return not is_other and _SEPARATORS.isdisjoint(text)
