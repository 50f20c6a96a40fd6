"""Values that say what the schema wants in another form are brought into that form; nothing is guessed."""

import json
from enum import Enum, IntEnum
from typing import Any, Literal

import pytest
from inline_snapshot import snapshot

from talaria.tools.arguments import Arguments, bind, read_arguments
from talaria.tools.declaration import Tool, tool
from talaria.tools.errors import ArgumentsInvalid, ToolInvalid
from tests.tools.test_argument_text import WRITE

INTEGERS = {"type": "array", "items": {"type": "integer"}}
STRINGS = {"type": "array", "items": {"type": "string"}}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def taking(schema: Any, **options: Any) -> Tool:
    """Return a tool with one parameter."""
    parameters = {"type": "object", "properties": {"it": schema}, "required": ["it"]}
    return Tool("taking", "Take it.", parameters, dict[str, Any], **options)


def read(schema: Any, value: Any) -> Any:
    return read_arguments(taking(schema), json.dumps({"it": value})).values["it"]


def refused(schema: Any, value: Any) -> str:
    with pytest.raises(ArgumentsInvalid) as caught:
        read(schema, value)
    return caught.value.message.partition("\n")[2]


def exactly(found: Any, wanted: Any) -> bool:
    return json.dumps(found) == json.dumps(wanted)


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, " -5 ", -5),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "integer"}, "1e3", 1000),
        ({"type": "integer"}, "1.0000", 1),
        ({"type": "integer"}, "123456789012345678901234567890", 123456789012345678901234567890),
        ({"type": "integer"}, 5.0, 5.0),
        ({"type": "number"}, "5.10", 5.1),
        ({"type": "number"}, "5", 5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "string"}, 42, "42"),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "None", None),
        ({"type": ["integer", "boolean"]}, "5", 5),
        ({"type": ["integer", "boolean"]}, "false", False),
        ({"type": ["integer", "string"]}, "5", "5"),
        (STRINGS, "x", ["x"]),
        (STRINGS, '["x"]', ["x"]),
        (STRINGS, "['x', 'y',]", ["x", "y"]),
        (INTEGERS, "5", [5]),
        (INTEGERS, 5, [5]),
        (INTEGERS, ["5", 6], [5, 6]),
        (INTEGERS, '["5"]', [5]),
        ({"type": "array", "items": OBJECT}, {"n": "1"}, [{"n": 1}]),
        (OBJECT, '{"n": "1"}', {"n": 1}),
        (OBJECT, {"n": "1", "other": "2"}, {"n": 1, "other": "2"}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "1", "b": 2}, {"a": 1, "b": 2}),
        (
            {"type": "object", "patternProperties": {"^n": {"type": "integer"}}},
            {"n1": "1", "m": "1"},
            {"n1": 1, "m": "1"},
        ),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, ["1", "1"], [1, "1"]),
        ({"enum": ["in_progress", "done"]}, "In Progress", "in_progress"),
        ({"enum": ["in_progress", "done"]}, "inProgress", "in_progress"),
        ({"enum": ["in_progress", "done"]}, "DONE", "done"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"enum": ["a", None]}, "null", None),
        ({"enum": ["v1", "v-1"]}, "V-1", "v-1"),
        ({"enum": [10, 20], "x-enum-varnames": ["LOW", "HIGH"]}, "high", 20),
        ({"const": "on"}, "ON", "on"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "A", ["a"]),
    ],
    ids=repr,
)
def test_a_value_in_another_form_becomes_the_one_that_is_wanted(schema: Any, value: Any, wanted: Any) -> None:
    assert exactly(read(schema, value), wanted)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 5.5),
        ({"type": "integer"}, "5.5"),
        ({"type": "integer"}, "1,000"),
        ({"type": "number"}, "1.000,5"),
        ({"type": "integer"}, "1_000"),
        ({"type": "integer"}, "007"),
        ({"type": "integer"}, "0x10"),
        ({"type": "integer"}, "5 pieces"),
        ({"type": "integer"}, ""),
        ({"type": "integer"}, "five"),
        ({"type": "integer"}, True),
        ({"type": "integer"}, "9" * 101),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "1e999"),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, 1),
        ({"type": "boolean"}, "1"),
        ({"type": "string"}, 4.2),
        ({"type": "string"}, True),
        ({"type": "string"}, ["a"]),
        ({"type": "string"}, None),
        (STRINGS, "x, y"),
        (STRINGS, "x\ny"),
        (STRINGS, ""),
        (STRINGS, "null"),
        (STRINGS, '["x"'),
        (STRINGS, "[draft] x"),
        (STRINGS, None),
        ({"type": "array", "items": INTEGERS}, [1, 2]),
        ({"type": "array", "items": INTEGERS}, 1),
        (OBJECT, '{"n": 1'),
        (OBJECT, [{"n": 1}]),
        (OBJECT, "n"),
        ({"enum": ["in_progress", "done"]}, "progress"),
        ({"enum": ["11", "12"]}, "1-1"),
    ],
    ids=repr,
)
def test_a_value_that_only_a_guess_could_use_is_refused(schema: Any, value: Any) -> None:
    assert refused(schema, value).startswith(("- it: expected ", "- it[0]: expected "))


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"enum": ["a-b", "a_b"]}, "AB", '- it: \'AB\' could mean "a-b" or "a_b"; write the one that is meant'),
        ({"type": ["integer", "string"], "enum": [1, "one"]}, "ONE!", '- it: expected one of 1, "one", got "ONE!"'),
        ({"enum": [1, True]}, "x", '- it: expected one of 1, true, got "x"'),
    ],
    ids=repr,
)
def test_a_choice_that_is_in_doubt_is_told_with_the_choices(schema: Any, value: Any, said: str) -> None:
    assert refused(schema, value).startswith(said)


# Fields


def test_only_what_does_not_fit_is_touched() -> None:
    text = '{"path": "a", "n": "5", "deep": "false", "tags": "[\\"x\\"]", "note": "null"}'
    assert read_arguments(WRITE, text) == snapshot(
        Arguments(
            values={"path": "a", "n": 5, "deep": False, "tags": ["x"], "note": "null"},
            coerced=("n: string to integer", "deep: string to boolean", "tags: string to array"),
        )
    )
    assert read_arguments(WRITE, '{"path": "a", "n": 5.0}').values["n"] == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"path": "a", "n": 5.5}', "- n: expected integer, got 5.5"),
        ('{"path": "a", "deep": "yes"}', '- deep: expected boolean, got "yes"'),
        ('{"path": "a", "evil": 1}', "- evil: there is no such field; there are 'path', 'n', 'deep', 'tags', 'note'"),
        ('{"path": null}', "- path: expected string, got null"),
        (
            '{"PATH": "a"}',
            "- PATH: there is no such field; there are 'path', 'n', 'deep', 'tags', 'note'; did you mean",
        ),
    ],
    ids=repr,
)
def test_the_error_names_the_field(text: str, said: str) -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        read_arguments(WRITE, text)
    assert said in caught.value.message


def test_a_null_for_a_field_that_may_be_absent_and_not_null_is_as_good_as_absent() -> None:
    assert read_arguments(WRITE, '{"path": "a", "n": null, "note": null}') == Arguments(
        {"path": "a", "note": None}, coerced=("n: null to nothing",)
    )


def test_what_could_be_coerced_is_not_among_the_problems() -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        read_arguments(WRITE, '{"path": "a", "n": "5", "deep": "maybe"}')
    assert caught.value.errors == ({"field": "deep", "message": 'expected boolean, got "maybe"'},)


def test_limits_hold_for_what_was_coerced() -> None:
    assert refused({"type": "integer", "maximum": 100}, "500") == "- it: 500 is greater than the maximum of 100"


# Branches


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", None),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "5", "5"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "5", 5),
        ({"anyOf": [INTEGERS, {"type": "null"}]}, "5", [5]),
        ({"anyOf": [{"type": "integer"}, INTEGERS]}, "5", 5),
        ({"oneOf": [{"type": "integer"}, STRINGS]}, "[1]", ["1"]),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "5", 5),
        (
            {
                "anyOf": [
                    {"properties": {"k": {"const": k}, "v": {"type": t}}, "required": ["k", "v"]}
                    for k, t in (("a", "integer"), ("b", "boolean"))
                ]
            },
            {"k": "b", "v": "true"},
            {"k": "b", "v": True},
        ),
    ],
    ids=repr,
)
def test_a_union_takes_the_branch_that_fits(schema: Any, value: Any, wanted: Any) -> None:
    assert exactly(read(schema, value), wanted)


def test_a_union_of_which_two_branches_would_take_it_differently_is_refused() -> None:
    two = {"anyOf": [{"type": "object", "properties": {"n": {"type": name}}} for name in ("integer", "string")]}
    assert exactly(read(two, {"n": 1}), {"n": 1})
    dates = {"anyOf": [{"type": "string", "format": form} for form in ("date", "date-time")]}
    assert refused(dates, "2024/1/2") == snapshot(
        '- it: "2024/1/2" could be "2024-01-02" or "2024-01-02T00:00:00"; write the one that is meant'
    )


def test_references_and_schemas_that_contain_themselves_are_followed() -> None:
    tree = {"type": "object", "properties": {"size": {"type": "integer"}, "next": {"$ref": "#/$defs/a~1%20tree%25"}}}
    parameters = {
        "type": "object",
        "properties": {"it": {"$ref": "#/$defs/a~1%20tree%25"}},
        "$defs": {"a/ tree%": tree},
    }
    declared = Tool("growing", "Grow.", parameters, dict[str, Any])
    text = '{"it": {"size": "1", "next": {"size": "2", "next": {"size": "3"}}}}'
    assert read_arguments(declared, text).values == {"it": {"size": 1, "next": {"size": 2, "next": {"size": 3}}}}


def test_a_union_that_contains_itself_does_not_take_for_ever() -> None:
    node = {
        "anyOf": [
            {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "v": {"type": name}}, "required": ["v"]}
            for name in ("integer", "boolean")
        ]
    }
    declared = Tool(
        "deep",
        "Deep.",
        {"type": "object", "properties": {"it": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}},
        dict[str, Any],
    )
    value: dict[str, Any] = {"v": "x"}
    for _ in range(40):
        value = {"v": "1", "n": value}
    with pytest.raises(ArgumentsInvalid):
        read_arguments(declared, json.dumps({"it": value}))


def test_older_drafts_and_references_to_elsewhere_are_left_to_the_validator() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}}
        },
    }
    declared = Tool("old", "Old.", old, dict[str, Any])
    assert read_arguments(declared, '{"pair": ["1", "true"]}').values == {"pair": [1, True]}
    anchored = {
        "type": "object",
        "properties": {"n": {"$ref": "#n"}},
        "$defs": {"n": {"$anchor": "n", "type": "integer"}},
    }
    with pytest.raises(ArgumentsInvalid):
        read_arguments(Tool("anchored", "A.", anchored, dict[str, Any]), '{"n": "1"}')


# Enums of Python


class Status(Enum):
    OPEN = "o"
    IN_PROGRESS = "wip"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


ALIASES = {"status": {"offen": "o", "进行中": Status.IN_PROGRESS.value}, "others": {"busy": "wip"}, "level": {"top": 2}}


@tool(aliases=ALIASES)
def move(
    status: Status, level: Level = Level.LOW, others: list[Status] | None = None, unit: Literal["kg", "lb"] = "kg"
) -> None:
    """Move a case."""


@pytest.mark.parametrize(
    ("word", "member"),
    [
        ("o", Status.OPEN),
        ("OPEN", Status.OPEN),
        ("in progress", Status.IN_PROGRESS),
        ("WIP", Status.IN_PROGRESS),
        ("offen", Status.OPEN),
        ("Offen ", Status.OPEN),
        ("进行中", Status.IN_PROGRESS),
    ],
    ids=repr,
)
def test_an_enum_is_found_by_value_by_name_and_by_alias(word: str, member: Status) -> None:
    assert bind(move, read_arguments(move, json.dumps({"status": word})).values)["status"] is member


def test_aliases_hold_inside_lists_and_for_numbers_but_not_for_other_parameters() -> None:
    text = '{"status": "o", "level": "top", "others": ["busy", "open"], "unit": "KG"}'
    assert read_arguments(move, text).values == {"status": "o", "level": 2, "others": ["wip", "o"], "unit": "kg"}
    with pytest.raises(ArgumentsInvalid, match="expected one of"):
        read_arguments(move, '{"status": "busy"}')


def test_a_model_is_not_shown_the_names_of_members() -> None:
    assert move.parameters["properties"]["status"] == {"enum": ["o", "wip"], "type": "string"}


@pytest.mark.parametrize(
    ("aliases", "said"),
    [
        ({"it": {"x": "c"}}, 'the alias \'x\' of \'it\' stands for "c", but that parameter takes "a", "b"'),
        ({"it": {"a": "b"}}, "the alias 'a' of 'it' is itself one of its values"),
        ({"other": {}}, "aliases name 'other', which is no parameter; there are 'it'"),
    ],
    ids=repr,
)
def test_aliases_that_lead_nowhere_are_refused_at_the_declaration(aliases: Any, said: str) -> None:
    with pytest.raises(ToolInvalid) as caught:
        taking({"enum": ["a", "b"]}, aliases=aliases)
    assert said in caught.value.message


def test_a_hand_written_schema_has_aliases_too() -> None:
    schema = {"type": "object", "properties": {"it": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"enum": ["red"]}}}
    declared = Tool("colours", "Colours.", schema, dict[str, Any], aliases={"it": {"rouge": "red"}})
    assert read_arguments(declared, '{"it": "Rouge"}').values == {"it": "red"}


@pytest.mark.parametrize("text", ["1.000", "-12.000", " 100.000 "])
def test_what_is_a_thousand_to_some_is_refused_as_a_whole_number(text: str) -> None:
    assert "integer" in refused({"type": "integer"}, text)
