"""The schema of an answer, as the Messages API takes it.

It takes a subset of JSON Schema: every object is closed, nothing is recursive, and most limits of values are not known
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs). What is left out here is checked afterwards
all the same. Where the subset would mean something else, the model is asked without a schema.
"""

from collections.abc import Iterator
from typing import Any, cast

_KEPT = ("type", "description", "title", "enum", "const", "default", "$ref")
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"),
)
_LISTS = (("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf"))
_OPEN = ("patternProperties", "unevaluatedProperties", "propertyNames", "prefixItems", "if", "not", "$dynamicRef")


class _OutsideError(Exception):
    """The schema is outside of the subset."""


def answer_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema within the subset; None where there is none that means the same."""
    try:
        return None if _is_recursive(schema) else _fitted(schema)
    except _OutsideError:
        return None


def _fitted(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _OutsideError
    node = cast("dict[str, Any]", value)
    if any(name in node for name in _OPEN):
        raise _OutsideError
    fitted = {name: node[name] for name in _KEPT if name in node}
    if not fitted.keys() & {"type", "enum", "const", "$ref"} and not any(name in node for name, _ in _LISTS):
        raise _OutsideError
    for name, written in _LISTS:
        if name in node:
            fitted[written] = [*fitted.get(written, ()), *map(_fitted, node[name])]
    if node.get("format") in _FORMATS:
        fitted["format"] = node["format"]
    if "$defs" in node:
        fitted["$defs"] = {name: _fitted(inner) for name, inner in node["$defs"].items()}
    return fitted | _inside(node)


def _inside(node: dict[str, Any]) -> dict[str, Any]:
    """What an object or an array has in it."""
    kind = node.get("type")
    if kind == "object" or "properties" in node:
        if not node.get("properties") or isinstance(node.get("additionalProperties"), dict):
            raise _OutsideError
        fields = {name: _fitted(inner) for name, inner in node["properties"].items()}
        return {"properties": fields, "required": node.get("required", []), "additionalProperties": False}
    if kind == "array":
        inside = {"items": _fitted(node.get("items"))}
        return inside | ({"minItems": node["minItems"]} if node.get("minItems") in (0, 1) else {})
    return {}


def _is_recursive(schema: dict[str, Any]) -> bool:
    left = {f"#/$defs/{name}": set(_references(inner)) for name, inner in schema.get("$defs", {}).items()}
    if not set(_references(schema)) <= set(left):
        return True
    while flat := [name for name, references in left.items() if not references]:
        for name in flat:
            del left[name]
        for references in left.values():
            references.difference_update(flat)
    return bool(left)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        node = cast("dict[str, Any]", value)
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for inner in node.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _references(inner)
