"""Coerces to the values of an enum: by alias, by the name of a member, and whatever the letter case."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from talaria.tools.coercion.parts import Compiler, Notes, Path, Place, Step, distinct, same
from talaria.tools.coercion.scalars import READINGS
from talaria.tools.problems import listed_values

NAMES = ("x-enum-varnames", "x-enumNames")
"""Keywords that hold the names of an enum's members, in order."""
_BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W\d_])")
_BETWEEN = re.compile(r"(?<=[^\W_])[\s_-]+(?=[^\W_])")


def choice_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces to `enum` or `const`."""
    options = options_of(schema)
    if not options:
        return None
    choices = Choices(options, _names(schema, options), compiler.aliases.get(place.parameter, {}))

    def step(value: Any, at: Path, notes: Notes) -> Any:
        if any(same(value, option) for option in options):
            return value
        found = choices.meant(value)
        if len(found) > 1:
            notes.refused(at, f"{value!r:.60} could mean {listed_values(found)}; write the one that is meant")
        if len(found) != 1:
            return value
        notes.repaired(at, "another word for a choice")
        return found[0]

    return step


def options_of(schema: dict[str, Any]) -> list[Any]:
    """Return the values that a subschema allows by name, or none."""
    if "const" in schema:
        return [schema["const"]]
    options: Any = schema.get("enum")
    return cast("list[Any]", options) if isinstance(options, list) else []


class Choices:
    """The values of one enum and the words for them. A word that is nearer goes before one that is only alike."""

    def __init__(self, options: Sequence[Any], names: Sequence[str], aliases: Mapping[str, Any]) -> None:
        self._options = options
        words = [(word, value) for word, value in aliases.items() if any(same(value, each) for each in options)]
        words += zip(names, options, strict=False)
        alike = [*words, *((each, each) for each in options if isinstance(each, str))]
        self._exact = _by_word(words)
        self._alike = _by_word([(folded(word), value) for word, value in alike])

    def meant(self, value: Any) -> list[Any]:
        """Return what a value may mean: one where it is clear."""
        readings = (read(value) for read in READINGS.values())
        typed = [option for reading in readings for option in self._options if same(reading, option)]
        if not isinstance(value, str):
            return distinct(typed)
        exact = self._exact.get(value.strip()) or self._alike.get(folded(value), [])
        return distinct([*exact, *typed])


def folded(word: str) -> str:
    """Return a word without letter case, and without spaces, hyphens and underscores between letters."""
    return _BETWEEN.sub("_", _BETWEEN_LETTERS.sub("", word.strip().casefold()))


def _by_word(pairs: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for word, value in pairs:
        found[word] = distinct([*found.get(word, []), value])
    return found


def _names(schema: dict[str, Any], options: Sequence[Any]) -> list[str]:
    for keyword in NAMES:
        names = schema.get(keyword)
        if isinstance(names, list) and len(names) == len(options):  # pyright: ignore[reportUnknownArgumentType]
            return [str(name) for name in names]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return []
