"""The schema of an answer, within what the Messages API takes."""

from typing import Any

import pytest

from talaria.models.anthropic.structured import answer_schema


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [], "additionalProperties": False, **more}


def with_field(field: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}, **more}


@pytest.mark.parametrize(
    ("field", "fitted"),
    [
        ({"type": "string", "minLength": 1, "pattern": "x"}, {"type": "string"}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "binary"}, {"type": "string"}),
        ({"type": "integer", "maximum": 3, "description": "d"}, {"type": "integer", "description": "d"}),
        ({"enum": ["x", "y"]}, {"enum": ["x", "y"]}),
        ({"oneOf": [{"type": "null"}, {"const": 1}]}, {"anyOf": [{"type": "null"}, {"const": 1}]}),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        ),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 2},
            {"type": "array", "items": {"type": "integer"}},
        ),
        (with_field({"type": "boolean"}), closed({"a": {"type": "boolean"}})),
    ],
)
def test_what_is_not_known_is_left_out_and_objects_are_closed(field: dict[str, Any], fitted: dict[str, Any]) -> None:
    assert answer_schema(with_field(field)) == closed({"a": fitted})


def test_definitions_are_kept() -> None:
    schema = with_field({"$ref": "#/$defs/A"}, **{"$defs": {"A": {"type": "integer", "minimum": 1}}})
    assert answer_schema(schema) == closed({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"type": "integer"}}})


@pytest.mark.parametrize(
    "field",
    [
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "integer"}]},
        {"not": {"type": "integer"}},
        {"$ref": "#"},
        {"$ref": "https://example.com/a.json"},
        {"$ref": "#/$defs/A"},
    ],
)
def test_what_would_mean_something_else_is_not_asked_for(field: dict[str, Any]) -> None:
    definitions = {"A": with_field({"$ref": "#/$defs/B"}), "B": with_field({"$ref": "#/$defs/A"})}
    assert answer_schema(with_field(field, **{"$defs": definitions if "$ref" in field else {}})) is None
