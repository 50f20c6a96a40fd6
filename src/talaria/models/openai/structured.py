"""`response_format`: the schema of an answer, for models that keep to one by themselves.

Strict mode takes a subset of JSON Schema (https://platform.openai.com/docs/guides/structured-outputs): every object is
closed, and each of its fields is required. Where a schema is outside of it, the model is asked to do its best.
"""

from typing import Any, cast

_PLAIN = frozenset({"type", "description", "title", "enum", "const", "$ref"})
_INSIDE = frozenset({"properties", "required", "additionalProperties", "items", "anyOf", "$defs"})


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the request's `response_format` for this schema."""
    named: dict[str, Any] = {"name": "answer", "schema": schema}
    if "anyOf" not in schema and fits_strict(schema):
        named["strict"] = True
    return {"type": "json_schema", "json_schema": named}


def fits_strict(schema: Any) -> bool:
    """Whether strict mode takes this schema; in doubt it does not."""
    if not isinstance(schema, dict):
        return False
    node = cast("dict[str, Any]", schema)
    if not node or not node.keys() <= _PLAIN | _INSIDE:
        return False
    is_object = node.get("type") == "object" or "properties" in node
    if is_object and not _is_closed(node):
        return False
    return all(fits_strict(inner) for inner in _inner(node))


def _is_closed(node: dict[str, Any]) -> bool:
    fields = node.get("properties", {})
    return node.get("additionalProperties") is False and set(node.get("required", ())) == set(fields)


def _inner(node: dict[str, Any]) -> list[Any]:
    groups = (node.get("properties", {}).values(), node.get("$defs", {}).values(), node.get("anyOf", ()))
    items = [node["items"]] if "items" in node else []
    return [each for group in groups for each in group] + items
