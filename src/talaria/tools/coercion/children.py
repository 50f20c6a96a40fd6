"""Coerces what is inside objects and lists. No field is added, none renamed; a null may stand for one left out."""

import re
from collections.abc import Mapping
from typing import Any, cast

from talaria.tools.coercion.parts import Compiler, Notes, Path, Place, Step, keep


def object_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces the fields of an object."""
    choose = _field_steps(compiler, schema, place)
    if choose is None:
        return None
    optional = _optional(schema)

    def step(value: Any, at: Path, notes: Notes) -> Any:
        if not isinstance(value, dict):
            return value
        fields = cast("dict[str, Any]", value)
        changed: dict[str, Any] = {}
        left_out: list[str] = []
        for name, inner in fields.items():
            if inner is None and name in optional and not compiler.fits(place.down("properties", name).pointer, None):
                left_out.append(name)
                notes.repaired((*at, name), "null to nothing")
                continue
            new = choose(name)(inner, (*at, name), notes)
            if new is not inner:
                changed[name] = new
        if not changed and not left_out:
            return fields
        return {name: changed.get(name, inner) for name, inner in fields.items() if name not in left_out}

    return step


def array_step(compiler: Compiler, schema: dict[str, Any], place: Place) -> Step | None:
    """Return what coerces the items of a list; an item is never taken for a list of its own."""
    first, rest = _item_steps(compiler, schema, place._replace(wraps=False))
    if not first and rest is keep:
        return None

    def step(value: Any, at: Path, notes: Notes) -> Any:
        if not isinstance(value, list):
            return value
        items = cast("list[Any]", value)
        new = [
            (first[index] if index < len(first) else rest)(item, (*at, index), notes)
            for index, item in enumerate(items)
        ]
        return items if all(one is other for one, other in zip(items, new, strict=True)) else new

    return step


class _FieldSteps:
    """Which step a field takes: by its name, by a pattern, or as one of the others."""

    def __init__(self, named: Mapping[str, Step], patterns: list[tuple[re.Pattern[str], Step]], others: Step) -> None:
        self._named = named
        self._patterns = patterns
        self._others = others

    def __call__(self, name: str) -> Step:
        found = self._named.get(name)
        if found is not None:
            return found
        return next((step for pattern, step in self._patterns if pattern.search(name)), self._others)


def _field_steps(compiler: Compiler, schema: dict[str, Any], place: Place) -> _FieldSteps | None:
    named = {
        name: compiler.step(place.down("properties", name)._replace(wraps=True, parameter=_parameter(place, name)))
        for name in _mapping(schema, "properties")
    }
    inside = place._replace(wraps=True, parameter="")
    patterns = [
        (compiled, compiler.step(inside.down("patternProperties", each)))
        for each in _mapping(schema, "patternProperties")
        if (compiled := _pattern(each)) is not None
    ]
    has_others = isinstance(schema.get("additionalProperties"), dict)
    others = compiler.step(inside.down("additionalProperties")) if has_others else keep
    return _FieldSteps(named, patterns, others) if named or patterns or has_others else None


def _parameter(place: Place, name: str) -> str:
    return "" if place.pointer else name


def _item_steps(compiler: Compiler, schema: dict[str, Any], place: Place) -> tuple[list[Step], Step]:
    """Return the steps of the first items and of the rest; older drafts say it with other keywords."""
    items = schema.get("items")
    if isinstance(items, list):
        count, prefix, rest = len(items), "items", "additionalItems"  # pyright: ignore[reportUnknownArgumentType]
    else:
        listed = schema.get("prefixItems")
        count, prefix, rest = len(listed) if isinstance(listed, list) else 0, "prefixItems", "items"  # pyright: ignore[reportUnknownArgumentType]
    first = [compiler.step(place.down(prefix, index)) for index in range(count)]
    return first, compiler.step(place.down(rest)) if isinstance(schema.get(rest), dict) else keep


def _optional(schema: dict[str, Any]) -> frozenset[str]:
    required = schema.get("required")
    names = frozenset(_mapping(schema, "properties"))
    return names - frozenset(required) if isinstance(required, list) else names  # pyright: ignore[reportUnknownArgumentType]


def _mapping(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:  # JSON Schema has another dialect; such fields are only validated
        return None
