"""Makes pydantic's JSON Schemas plain: no titles, and definitions put where they are used."""

from dataclasses import dataclass
from typing import Any, cast

_NAMES = frozenset({"properties", "patternProperties", "dependentSchemas"})
_VALUES = frozenset({"default", "const", "enum", "examples", "example", "required", "mapping"})
_PREFIX = "#/$defs/"


def plain_schema(schema: dict[str, Any], keyword: str = "title") -> dict[str, Any]:
    """Return a copy without titles (or another keyword); only definitions that contain themselves stay in $defs."""
    definitions: dict[str, Any] = schema.get("$defs", {})
    circular = {name for name in definitions if _reaches(name, definitions)}
    inline = _Inlining(definitions, circular, keyword).plain
    body = inline({key: value for key, value in schema.items() if key != "$defs"})
    kept = {name: inline(definitions[name]) for name in sorted(circular)}
    return {**body, "$defs": kept} if kept else body


@dataclass(frozen=True, slots=True)
class _Inlining:
    definitions: dict[str, Any]
    circular: set[str]
    dropped: str

    def plain(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.plain(item) for item in node]  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(node, dict):
            return node
        schema = cast("dict[str, Any]", node)
        name = _target(schema)
        if name in self.definitions and name not in self.circular:
            return self.plain({**self.definitions[name], **{key: schema[key] for key in schema if key != "$ref"}})
        return {key: self._value(key, value) for key, value in schema.items() if not self._is_dropped(key, value)}

    def _value(self, key: str, value: Any) -> Any:
        if key in _NAMES:
            return {each: self.plain(inner) for each, inner in value.items()}
        return value if key in _VALUES else self.plain(value)

    def _is_dropped(self, key: str, value: Any) -> bool:
        return key == self.dropped or (key == "discriminator" and "mapping" in value)


def _reaches(start: str, definitions: dict[str, Any]) -> bool:
    seen: set[str] = set()
    ahead = _mentions(definitions[start])
    while ahead:
        name = ahead.pop()
        if name == start:
            return True
        if name in definitions and name not in seen:
            seen.add(name)
            ahead |= _mentions(definitions[name])
    return False


def _mentions(node: Any) -> set[str]:
    if isinstance(node, list):
        return {name for item in node for name in _mentions(item)}  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(node, dict):
        return set()
    inner: set[str] = {name for value in node.values() for name in _mentions(value)}  # pyright: ignore[reportUnknownVariableType]
    name = _target(node)  # pyright: ignore[reportUnknownArgumentType]
    return inner | {name} if name else inner


def _target(schema: dict[str, Any]) -> str:
    reference = schema.get("$ref")
    return reference[len(_PREFIX) :] if isinstance(reference, str) and reference.startswith(_PREFIX) else ""
