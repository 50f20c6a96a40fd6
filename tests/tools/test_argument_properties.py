"""What holds of coercion for every schema and every value."""

import json
from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from talaria.tools.arguments import Arguments, read_arguments
from talaria.tools.coercion.coercer import Coercer
from talaria.tools.declaration import Tool
from talaria.tools.errors import ArgumentsInvalid
from talaria.tools.schema_problems import from_schema

words = st.text("abAB _-1", max_size=5)
Pair = tuple[dict[str, Any], Any]
"""A schema and a value that is valid against it."""


def typed(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Pair]:
    return values.map(lambda value: ({"type": name}, value))


leaves: st.SearchStrategy[Pair] = st.one_of(
    typed("integer", st.integers()),
    typed("number", st.floats(allow_nan=False, allow_infinity=False)),
    typed("boolean", st.booleans()),
    typed("string", st.text(st.characters(codec="utf-8", exclude_characters="\x00"))),
    st.dates().map(lambda day: ({"type": "string", "format": "date"}, day.isoformat())),
    st.lists(words, min_size=1, unique=True).map(lambda options: ({"enum": options}, options[0])),
)


def listing(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.tuples(inner, st.integers(0, 3)).map(
        lambda drawn: ({"type": "array", "items": drawn[0][0]}, [drawn[0][1]] * drawn[1])
    )


def having(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.dictionaries(words, inner, max_size=3).map(
        lambda fields: (
            {"type": "object", "properties": {name: pair[0] for name, pair in fields.items()}},
            {name: pair[1] for name, pair in fields.items()},
        )
    )


def choosing(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.lists(inner, min_size=1, max_size=3).map(
        lambda pairs: ({"anyOf": [*(pair[0] for pair in pairs), {"type": "null"}]}, pairs[0][1])
    )


pairs = st.recursive(leaves, lambda inner: listing(inner) | having(inner) | choosing(inner), max_leaves=6)
objects = having(pairs)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["5", "true", "null", "[1]", "a", "2024/1/2", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)


def taking(schema: dict[str, Any]) -> Tool:
    return Tool("taking", "Take it.", schema, dict[str, Any])


@given(objects)
def test_what_is_valid_stays_the_same_object(pair: Pair) -> None:
    schema, value = pair
    coerced, notes = Coercer(schema).coerce(value)
    assert coerced is value
    assert (notes.repairs, notes.problems) == ([], {})


@given(objects)
def test_what_is_valid_is_read_with_the_same_types_and_without_repairs(pair: Pair) -> None:
    schema, value = pair
    assert read_arguments(taking(schema), json.dumps(value)) == Arguments(value)
    assert repr(read_arguments(taking(schema), json.dumps(value)).values) == repr(value)


@given(objects, st.data())
def test_a_field_that_is_valid_stays_whatever_the_others_are(pair: Pair, data: st.DataObject) -> None:
    schema, value = pair
    schema = {**schema, "properties": {**schema["properties"], "wrong": {"type": "integer"}}, "required": ["wrong"]}
    broken = {**value, "wrong": data.draw(json_values)}
    coerced, _ = Coercer(schema).coerce(broken)
    assert all(coerced[name] is each for name, each in value.items() if name != "wrong")


@given(objects, st.data())
def test_coercion_is_done_once_and_neither_adds_nor_renames_fields(pair: Pair, data: st.DataObject) -> None:
    schema = pair[0]
    value = {name: data.draw(json_values) for name in schema["properties"]}
    declared = taking(schema)
    try:
        read = read_arguments(declared, json.dumps(value))
    except ArgumentsInvalid as error:
        assert 1 <= len(error.message.splitlines()[1:]) <= 6  # noqa: PT017 - both outcomes are fine
        return
    assert read.values.keys() <= value.keys()
    assert all(value[name] is None for name in value.keys() - read.values.keys())
    assert read_arguments(declared, json.dumps(read.values)) == Arguments(read.values)
    assert not list(from_schema(declared.validator, schema, read.values))


@given(st.integers(), st.booleans(), st.dates(), st.lists(st.integers(), max_size=3))
def test_what_was_disguised_as_text_is_recognised(number: int, flag: bool, day: date, row: list[int]) -> None:
    schema = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "flag": {"type": "boolean"},
            "day": {"type": "string", "format": "date"},
            "row": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        },
    }
    value = {"number": number, "flag": flag, "day": day.isoformat(), "row": row}
    disguised = {"number": str(number), "flag": str(flag), "day": day.strftime("%Y/%m/%d").zfill(10), "row": repr(row)}
    assert read_arguments(taking(schema), json.dumps(disguised)).values == value
