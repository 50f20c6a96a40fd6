"""What happens to the arguments a model writes, good ones and bad ones."""

import json
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import BaseModel, field_validator

from talaria.core.errors import InvalidRequest
from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.declaration import Tool, tool
from talaria.tools.errors import ArgumentsInvalid


class Status(Enum):
    OPEN = "open"
    CLOSED = "closed"


class Item(BaseModel):
    sku: str
    count: int = 1

    @field_validator("sku")
    @classmethod
    def known(cls, value: str) -> str:
        if not value.startswith("S"):
            raise ValueError("an article begins with S")
        return value


class Tree(BaseModel):
    children: list["Tree"] = []


@tool
def refund(
    order_id: str, amount: Decimal, on: date, status: Status, items: list[Item] | None = None, unit: Literal["c"] = "c"
) -> None:
    """Refund part of an order."""


@tool
def plant(tree: Tree, depth: int = 0) -> None:
    """Plant a tree."""


ANYTHING = Tool("anything", "Take anything.", {"type": "object"}, dict[str, Any])
GOOD = '{"order_id": "42", "amount": "1.50", "on": "2024-02-29", "status": "open"}'


def said(declared: Tool, text: str) -> str:
    """Return what the model is told, without the first line."""
    with pytest.raises(ArgumentsInvalid) as caught:
        bind(declared, parse_arguments(declared, text))
    return caught.value.message.partition("\n")[2]


def test_good_arguments_stay_json_until_they_are_bound() -> None:
    arguments = parse_arguments(refund, GOOD)
    assert arguments == {"order_id": "42", "amount": "1.50", "on": "2024-02-29", "status": "open"}
    assert bind(refund, arguments) == {
        "order_id": "42",
        "amount": Decimal("1.50"),
        "on": date(2024, 2, 29),
        "status": Status.OPEN,
        "items": None,
        "unit": "c",
    }


def test_binding_leaves_the_arguments_on_record_as_they_are() -> None:
    arguments = parse_arguments(refund, GOOD)
    bind(refund, arguments)
    assert arguments == parse_arguments(refund, GOOD)


def test_nested_values_become_models() -> None:
    arguments = parse_arguments(refund, GOOD[:-1] + ', "items": [{"sku": "S1"}]}')
    assert bind(refund, arguments)["items"] == [Item(sku="S1", count=1)]


@pytest.mark.parametrize("text", ["", " \n", "{}"])
def test_no_text_means_no_arguments(text: str) -> None:
    assert parse_arguments(ANYTHING, text) == {}


@pytest.mark.parametrize("text", ["[1]", "null", '""', "1"])
def test_json_that_is_no_object_is_refused(text: str) -> None:
    assert said(ANYTHING, text).startswith("- expected one JSON object, got ")


def test_text_that_is_no_json_is_refused_and_shown() -> None:
    why, fields = said(plant, '{"a": undefined}').splitlines()
    assert why.startswith("- this is not JSON: unexpected 'undefined' at character 6; ")
    assert why.endswith('This came: «{"a": undefined}»')
    assert fields == "- write one JSON object; its fields are 'tree', 'depth', of which 'tree' must be there"


def test_characters_that_no_store_holds_are_replaced() -> None:
    assert parse_arguments(ANYTHING, '{"a": "\\ud800", "b": "\\u0000"}') == {"a": "\ufffd", "b": "\ufffd"}


def test_problems_name_the_field_what_came_and_what_is_expected() -> None:
    text = '{"order_id": 4.2, "amount": true, "status": "opened", "extra": "x", "on": "2024-02-29"}'
    assert said(refund, text) == snapshot("""\
- order_id: expected string, got 4.2
- amount: expected number or string, got true
- status: expected one of "open", "closed", got "opened"; did you mean 'open'?
- extra: there is no such field; there are 'order_id', 'amount', 'on', 'status', 'items', 'unit'\
""")


def test_an_unknown_field_is_told_the_nearest_known_one() -> None:
    assert said(refund, GOOD[:-1] + ', "unti": "c"}').endswith("; did you mean 'unit'?")


def test_a_problem_inside_an_optional_value_is_named_where_it_is() -> None:
    text = GOOD[:-1] + ', "items": [{"sku": "S1"}, {"count": "two"}]}'
    assert said(refund, text) == snapshot("""\
- items[1].sku: is missing
- items[1].count: expected integer, got "two"\
""")


def test_a_value_that_fits_none_of_several_types_names_them_all() -> None:
    assert said(refund, GOOD[:-1] + ', "items": "S1"}') == '- items: expected array or null, got "S1"'


def test_what_only_the_function_s_own_types_refuse_is_said_the_same_way() -> None:
    text = '{"order_id": "42", "amount": "much", "on": "2024-02-29", "status": "open", "items": [{"sku": "T1"}]}'
    assert said(refund, text) == snapshot("""\
- amount: Input should be a valid decimal, got "much"
- items[0].sku: an article begins with S, got "T1"\
""")


def test_at_most_five_problems_are_told() -> None:
    wrong = ", ".join(f'"field{number}": 1' for number in range(9))
    lines = said(refund, f"{GOOD[:-1]}, {wrong}}}").splitlines()
    assert len(lines) == 6
    assert lines[-1] == "- and more"


def test_long_values_are_shortened() -> None:
    assert max(map(len, said(refund, '{"order_id": ["%s"]}' % ("x" * 10_000)).splitlines())) < 120


def test_the_client_gets_the_same_by_field() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_arguments(refund, GOOD[:-1] + ', "unit": "d"}')
    assert caught.value.message.startswith("The arguments for refund are not valid; correct them and call it again:\n")
    assert caught.value.errors == ({"field": "unit", "message": 'expected "c", got "d"'},)


@pytest.mark.parametrize("depth", [100, 300, 1_000, 100_000])
@pytest.mark.parametrize("declared", [ANYTHING, plant, refund], ids=lambda each: each.name)
def test_arguments_nested_too_deeply_are_refused_or_taken_but_never_break_anything(declared: Tool, depth: int) -> None:
    for text in (
        '{"items": ' + "[" * depth + "]" * depth + "}",
        '{"tree": ' + '{"children": [' * depth + "]}" * depth + "}",
    ):
        taken = bound(declared, text)
        assert isinstance(taken, dict) or len(taken.message) < 1_000


def test_a_schema_that_refers_to_itself_by_anchor_still_explains() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"$ref": "#inner"}},
        "$defs": {"inner": {"$anchor": "inner", "properties": {}, "additionalProperties": False}},
    }
    by_hand = Tool("anchored", "Anchored.", schema, dict[str, Any])
    assert said(by_hand, '{"a": {"b": 1}}').startswith("- a.b: there is no such field")


def test_an_argument_to_a_tool_that_takes_none_is_named() -> None:
    @tool
    def now() -> str:
        """Tell the time."""
        return "noon"

    assert said(now, '{"zone": "UTC"}') == "- zone: there is no such field; there are none"
    bare = Tool("bare", "Bare.", {"type": "object", "additionalProperties": False}, dict[str, Any])
    assert said(bare, '{"zone": "UTC"}') == '- nothing is allowed here, got "UTC"; leave it out'


def bound(declared: Tool, text: str) -> dict[str, Any] | ArgumentsInvalid:
    """Return the values, or the refusal; anything else that is raised breaks the test."""
    try:
        return bind(declared, parse_arguments(declared, text))
    except ArgumentsInvalid as error:
        return error


@given(st.text() | st.dictionaries(st.text(), st.text() | st.integers() | st.booleans()).map(str))
def test_any_text_is_taken_or_refused_with_words(text: str) -> None:
    for declared in (ANYTHING, refund):
        taken = bound(declared, text)
        assert isinstance(taken, dict) or taken.errors


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(refund.parameters["properties"], json_values)))
def test_any_values_are_bound_or_refused_with_words(arguments: dict[str, Any]) -> None:
    taken = bound(refund, json.dumps(arguments))
    assert set(refund.parameters["properties"]) == set(taken) if isinstance(taken, dict) else taken.errors
