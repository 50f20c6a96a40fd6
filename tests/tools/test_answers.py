"""Final answers as models write them: taken as they are, mended or refused; and schemas that are none."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import InvalidRequest
from talaria.tools.answers import FinalAnswer, answer_tool, check_schema, is_wrapped, read_call, read_text
from talaria.tools.errors import ArgumentsInvalid

TEXT: dict[str, Any] = {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]}
NUMBERS: dict[str, Any] = {"type": "array", "items": {"type": "integer"}}
WORD: dict[str, Any] = {"type": "string"}

TAKEN: list[tuple[dict[str, Any], str, str]] = [
    (TEXT, ' {"t": "x"}\n', ' {"t": "x"}\n'),
    (TEXT, '\ufeff{"t":"x"}', '{"t":"x"}'),
    (TEXT, 'Sure: {"t": "x"}', '{"t":"x"}'),
    (TEXT, '"{\\"t\\":\\"x\\"}"', '{"t":"x"}'),
    (NUMBERS, "[1]", "[1]"),
    (NUMBERS, "```json\n[1,]\n```", "[1]"),
    (NUMBERS, '{"answer": [1]}', "[1]"),
    (WORD, '"x"', '"x"'),
    (WORD, "5", '"5"'),
    ({}, '{"answer": 1}', "1"),
    ({}, "null", "null"),
]


@pytest.mark.parametrize(("schema", "text", "answer"), TAKEN)
def test_text_that_can_mean_one_thing_only_is_an_answer(schema: dict[str, Any], text: str, answer: str) -> None:
    read = read_text(answer_tool(schema), schema, text)
    assert read.text == answer
    assert bool(read.repairs) is (text != answer and "answer" not in text)


REFUSED: list[tuple[dict[str, Any], str]] = [
    (TEXT, ""),
    (TEXT, " "),
    (TEXT, '{"t": "x"} {"t": "y"}'),
    (TEXT, '[{"t": "x"}]'),
    (TEXT, '{"t": "x"'),
    (TEXT, "[" * 5_000),
    (NUMBERS, "1, 2"),
    (NUMBERS, "[" * 5_000),
    (NUMBERS, '{"answer": ["x"]}'),
    (WORD, "hello"),
    (WORD, "true"),
    ({}, "NaN"),
]


@pytest.mark.parametrize(("schema", "text"), REFUSED)
def test_text_that_fits_only_by_guessing_is_refused(schema: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentsInvalid):
        read_text(answer_tool(schema), schema, text)


@pytest.mark.parametrize("odd", ["\\u0000", "\\ud800"])
def test_what_no_store_can_hold_is_replaced(odd: str) -> None:
    read = read_text(answer_tool(TEXT), TEXT, f'{{"t": "{odd}"}}')
    assert msgspec.json.decode(read.text) == {"t": "\N{REPLACEMENT CHARACTER}"}


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)


@given(values)
def test_any_value_that_is_valid_stands_as_it_was_written(value: Any) -> None:
    text = json.dumps(value)
    tool = answer_tool({})
    if not (isinstance(value, dict) and set(value) == {"answer"}):  # pyright: ignore[reportUnknownArgumentType]
        assert msgspec.json.decode(read_text(tool, {}, text).text) == msgspec.json.decode(text)
    called = read_call(tool, {}, json.dumps({"answer": value}))
    assert msgspec.json.decode(called.text) == msgspec.json.decode(text)


def test_the_arguments_of_a_call_stand_unless_they_are_inside_an_object() -> None:
    assert read_call(answer_tool(TEXT), TEXT, '{"t": "x"}') == FinalAnswer('{"t": "x"}')
    assert read_call(answer_tool(NUMBERS), NUMBERS, '{"answer": [1, 2]}') == FinalAnswer("[1,2]")
    assert not is_wrapped(TEXT)
    assert is_wrapped(NUMBERS)
    nothing: dict[str, Any] = {"type": "object"}
    assert read_call(answer_tool(nothing), nothing, "").text == "{}"


def test_definitions_stay_where_references_look_for_them() -> None:
    number = {"n": {"type": "integer"}}
    base = "json-schema.org/draft"
    drafts = {"$defs": f"https://{base}/2020-12/schema", "definitions": f"http://{base}-07/schema#"}
    for key, draft in drafts.items():
        schema: dict[str, Any] = {"$schema": draft, "items": {"$ref": f"#/{key}/n"}, key: number}
        schema["type"] = "array"
        check_schema(schema)
        assert read_text(answer_tool(schema), schema, '["1"]').text == "[1]"


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


NO_SCHEMAS: list[dict[Any, Any]] = [
    {"type": "obj"},
    {"type": "object", "required": "a"},
    {"pattern": "("},
    {"$ref": "#/$defs/none"},
    {"$ref": "https://example.com/schema.json"},
    {"$schema": "http://nowhere.example/x"},
    {"type": "array", "items": {"$ref": "#"}},
    {"description": "\ud800"},
    {"const": object()},
    {1: 2},
    {"description": "x" * 70_000},
    deep(5_000),
]


@pytest.mark.parametrize("schema", NO_SCHEMAS, ids=range(len(NO_SCHEMAS)))
def test_what_is_no_schema_is_refused_in_one_line(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=r"^outputSchema: ") as caught:
        check_schema(schema)
    assert "\n" not in caught.value.message
    assert caught.value.errors[0]["field"] == "outputSchema"
