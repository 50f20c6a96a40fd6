"""Makes pydantic's JSON Schemas plain: no titles, and definitions put where they are used."""

from typing import Any, cast

_NAMES = frozenset({"properties", "patternProperties", "dependentSchemas"})
_VALUES = frozenset({"default", "const", "enum", "examples", "example", "required", "mapping"})
_PREFIX = "#/$defs/"


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy without titles; only definitions that contain themselves stay in $defs."""
    definitions: dict[str, Any] = schema.get("$defs", {})
    circular = {name for name in definitions if _reaches(name, definitions)}
    body = _plain({key: value for key, value in schema.items() if key != "$defs"}, definitions, circular)
    kept = {name: _plain(definitions[name], definitions, circular) for name in sorted(circular)}
    return {**body, "$defs": kept} if kept else body


def _plain(node: Any, definitions: dict[str, Any], circular: set[str]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions, circular) for item in node]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, Any]", node)
    name = _target(schema)
    if name in definitions and name not in circular:
        schema = {**definitions[name], **{key: value for key, value in schema.items() if key != "$ref"}}
        return _plain(schema, definitions, circular)
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMES:
            plain[key] = {each: _plain(inner, definitions, circular) for each, inner in value.items()}
        elif key in _VALUES:
            plain[key] = value
        elif key != "title" and not (key == "discriminator" and "mapping" in value):
            plain[key] = _plain(value, definitions, circular)
    return plain


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
