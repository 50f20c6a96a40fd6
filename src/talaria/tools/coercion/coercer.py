"""The coercer of one schema: the steps for every place in it, made once."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from talaria.tools.coercion.branches import all_step, any_step, one_step, reference_step
from talaria.tools.coercion.children import array_step, object_step
from talaria.tools.coercion.choices import choice_step
from talaria.tools.coercion.parts import Compiler, Notes, Path, Place, Step, keep
from talaria.tools.coercion.subschemas import Subschemas
from talaria.tools.coercion.types import type_step

_Maker = Callable[[Compiler, dict[str, Any], Place], Step | None]
_MAKERS: tuple[_Maker, ...] = (
    choice_step,
    type_step,
    object_step,
    array_step,
    reference_step,
    all_step,
    any_step,
    one_step,
)


class Coercer:
    """Coerces arguments to a JSON Schema. `aliases`: other words for an enum's values, by parameter."""

    def __init__(self, schema: dict[str, Any], aliases: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.aliases = aliases or {}
        self._subschemas = Subschemas(schema)
        self._steps: dict[Place, Step] = {}
        self._root = self.step(Place(""))

    def coerce(self, arguments: dict[str, Any]) -> tuple[Any, Notes]:
        """Return the arguments in the form that the schema wants, as far as they have one, and what was noted.

        What fits stays the same object. The result may still not be valid.
        """
        notes = Notes()
        return self._root(arguments, (), notes), notes

    def at(self, pointer: str) -> Any:
        """Return the subschema at a JSON pointer, or None."""
        return self._subschemas.at(pointer)

    def fits(self, pointer: str, value: Any) -> bool:
        """Whether a value is valid against a subschema as it is."""
        return self._subschemas.fits(pointer, value)

    def step(self, place: Place) -> Step:
        """Return what coerces to a subschema. A schema that contains itself gets there by a detour."""
        known = self._steps.get(place)
        if known is None:
            self._steps[place] = partial(self._detour, place)
            self._steps[place] = known = self._make(place)
        return known

    def _detour(self, place: Place, value: Any, at: Path, notes: Notes) -> Any:
        return self._steps[place](value, at, notes)

    def _make(self, place: Place) -> Step:
        schema = self._subschemas.at(place.pointer)
        if not isinstance(schema, dict):
            return keep
        made = [step for make in _MAKERS if (step := make(self, schema, place)) is not None]  # pyright: ignore[reportUnknownArgumentType]
        return _one_after_the_other([step for step in made if step is not keep])


def _one_after_the_other(steps: list[Step]) -> Step:
    if len(steps) < 2:
        return steps[0] if steps else keep

    def step(value: Any, at: Path, notes: Notes) -> Any:
        for each in steps:
            value = each(value, at, notes)
        return value

    return step
