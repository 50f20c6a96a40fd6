"""Schemas made plain: what is written, and that whatever comes in, nothing that is refused comes out."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.models.plain_schema import LARGEST, plain_schema

TEXT = {"type": "string"}


def field(node: Any, **defs: Any) -> dict[str, Any]:
    """What becomes of the schema of one field."""
    return plain_schema({"type": "object", "properties": {"f": node}, "$defs": defs})["properties"]["f"]


@pytest.mark.parametrize(
    ("node", "written"),
    [
        ({"type": "string", "title": "F", "default": "x", "examples": ["a"], "minLength": 1}, {**TEXT, "minLength": 1}),
        ({"anyOf": [TEXT, {"type": "null"}], "description": "d"}, {**TEXT, "nullable": True, "description": "d"}),
        ({"type": ["string", "null"]}, {**TEXT, "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [TEXT, {"type": "integer"}]}),
        ({"oneOf": [TEXT, {"type": "integer"}]}, {"anyOf": [TEXT, {"type": "integer"}]}),
        ({"const": "x", "type": "string"}, {"type": "string", "enum": ["x"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2."}),
        ({"enum": ["a", None], "description": "d"}, {"enum": ["a"], "nullable": True, "description": "d"}),
        ({"type": "string", "format": "uri"}, TEXT),
        ({"type": "string", "format": "date-time"}, {**TEXT, "format": "date-time"}),
        ({"type": "array"}, {"type": "array", "items": TEXT}),
        ({"type": "array", "items": {"$ref": "#/$defs/P"}}, {"type": "array", "items": TEXT}),
        ({"type": "array", "prefixItems": [TEXT]}, {"type": "array", "items": TEXT}),
        ({"type": "object", "additionalProperties": TEXT, "patternProperties": {}}, {"type": "object"}),
        ({"$ref": "#/$defs/P", "description": "mine"}, {**TEXT, "description": "mine"}),
        ({"$ref": "https://x.example/s.json", "description": "d"}, {"type": "object", "description": "d"}),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
                    {"properties": {"b": TEXT}, "required": ["b", "c"]},
                ]
            },
            {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]},
        ),
        (True, {}),
    ],
)
def test_a_field_is_written_plainly(node: Any, written: dict[str, Any]) -> None:
    assert field(node, P={"$ref": "#/$defs/Q"}, Q={"type": "string"}) == written


def test_fields_may_have_the_names_of_keywords() -> None:
    names = {"title": TEXT, "$ref": TEXT, "default": TEXT, "properties": TEXT}
    assert plain_schema({"type": "object", "properties": names}) == {"type": "object", "properties": names}


def test_a_schema_within_itself_ends() -> None:
    node = {"type": "object", "description": "n", "properties": {"next": {"$ref": "#/$defs/N"}}}
    assert field({"$ref": "#/$defs/N"}, N=node) == node | {"properties": {"next": {"type": "object"}}}
    assert plain_schema({"type": "object", "properties": {"me": {"$ref": "#"}}})["properties"]["me"]["type"] == "object"


def test_a_schema_that_would_grow_without_end_stays_small() -> None:
    def twice(name: str) -> dict[str, Any]:
        return {"type": "object", "properties": {side: {"$ref": f"#/$defs/{name}"} for side in ("left", "right")}}

    defs = {str(level): twice(str(level + 1)) for level in range(60)}
    assert nodes(plain_schema({**twice("0"), "$defs": defs})) < 3 * LARGEST
    both = {str(at): {"allOf": [{"$ref": f"#/$defs/{at + 1}"}] * 2} for at in range(60)}
    assert plain_schema({"$ref": "#/$defs/0", "$defs": both}) == {"type": "object"}


def nodes(value: Any) -> int:
    """How many values there are in a value."""
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    return 1 + sum(map(nodes, cast("list[Any]", value))) if isinstance(value, list) else 1


KEYS = st.sampled_from(
    [
        *("$ref", "allOf", "anyOf", "oneOf", "not", "type", "enum", "const", "properties", "required", "items"),
        *("prefixItems", "additionalProperties", "description", "format", "$defs", "default", "nullable"),
    ]
)
WORDS = st.sampled_from(["string", "object", "array", "#", "#/$defs/items", "#/properties/type"])
LEAVES: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3) | WORDS
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=25
)
REFUSED = {"$ref", "allOf", "oneOf", "not", "const", "additionalProperties", "default", "$defs", "prefixItems"}


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_nothing_that_is_refused_comes_out(schema: dict[str, Any]) -> None:
    def check(node: dict[str, Any]) -> None:
        assert not REFUSED & node.keys()
        assert not isinstance(node.get("type"), list)
        for inner in (*node.get("properties", {}).values(), *node.get("anyOf", ())):
            check(inner)
        if node.get("type") == "array":
            check(node["items"])

    check(plain_schema(schema))
