"""Reading the JSON text of a call: repairs that cannot change a meaning, and refusals of everything else."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from talaria.tools.arguments import Arguments, read_arguments
from talaria.tools.declaration import Tool
from talaria.tools.errors import ArgumentsInvalid

WRITE = Tool(
    "write",
    "Write a file.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "n": {"type": "integer"},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": ["string", "null"]},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    dict[str, Any],
)
ANYTHING = Tool("anything", "Take anything.", {"type": "object"}, dict[str, Any])
A = {"path": "a"}


def refused(text: str, declared: Tool = WRITE) -> str:
    """Return what the model is told about text that is not taken, without the first line."""
    with pytest.raises(ArgumentsInvalid) as caught:
        read_arguments(declared, text)
    return caught.value.message.partition("\n")[2]


@pytest.mark.parametrize(
    ("text", "values", "repairs"),
    [
        ('```json\n{"path":"a"}\n```', A, ("Markdown fence",)),
        ('```\n{"path":"a"}\n```', A, ("Markdown fence",)),
        ('"{\\"path\\":\\"a\\"}"', A, ("encoded twice",)),
        ('{"path":"a","tags":["x",],}', A | {"tags": ["x"]}, ("trailing comma",)),
        ("{'path': 'a', 'deep': True, 'note': None}", A | {"deep": True, "note": None}, ("single quotes", "Python")),
        ('{"path": "a", "deep": False}', A | {"deep": False}, ("Python literal",)),
        ('{"path":"a\nb"}', {"path": "a\nb"}, ("control character",)),
        ('{"path":"a\tb\r\n"}', {"path": "a\tb\r\n"}, ("control character",)),
        ('{"path":"a"} I will now write it.', A, ("text around",)),
        ('Here are the arguments: {"path":"a"}', A, ("text around",)),
        ('Sure!\n```json\n{"path":"a"}\n```\nDone, let\'s see.', A, ("Markdown fence", "text around")),
        ('\ufeff{"path":"a"}', A, ("byte order mark",)),
        ("\ufeff{'path':'a'}", A, ("byte order mark", "single quotes")),
        ("{'path': 'it\\'s \"a\"'}", {"path": 'it\'s "a"'}, ("single quotes",)),
        ("\"{'path': 'a',}\"", A, ("encoded twice", "single quotes", "trailing comma")),
        ('{"path":"True, None, [1,],"}', {"path": "True, None, [1,],"}, ()),
        (' \n{"path":"a"}\n ', A, ()),
    ],
    ids=repr,
)
def test_what_has_one_meaning_is_read_and_says_what_was_repaired(
    text: str, values: dict[str, Any], repairs: tuple[str, ...]
) -> None:
    read = read_arguments(WRITE, text)
    assert read.values == values
    assert len(read.repairs) == len(repairs)
    assert all(said.startswith(expected) for said, expected in zip(read.repairs, repairs, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        '{"path":"a","tags":["x"',
        '{"path":"/etc/pas',
        '{"path":"a"',
        '{"path":"a",',
        '{"path":"a", "deep": tru',
        "{'path': 'a",
        '"{\\"path\\":\\"a',
        '"{\\"path\\":\\"a\\""',
        '```json\n{"path":"a"',
        '["a"',
        "{",
    ],
    ids=repr,
)
def test_text_that_ends_too_early_is_never_closed_and_the_model_hears_that_it_was_cut(text: str) -> None:
    assert refused(text).startswith("- the text is cut off before its end, nothing of it was run;")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('["a"]', "expected one JSON object, got a list"),
        ("null", "expected one JSON object, got null"),
        ('"a"', "expected one JSON object, got a string"),
        ('""', "expected one JSON object, got a string"),
        ('"a" {"path":"a"}', "this is not JSON: Extra data"),
        ("7", "expected one JSON object, got a number"),
        ("write a", "there is no JSON object in it"),
        ('{"path":"a"}{"path":"b"}', "there is more than one JSON object"),
        ('{"path":"a"}\n{"path":"b"}', "there is more than one JSON object"),
        ('{"path":"a"}}', "there is more than one JSON object, or something beside it"),
        ('{"path":"a"},', "there is more than one JSON object, or something beside it"),
        ('write({"path":"a"})', "there is more than one JSON object, or something beside it"),
        ('th":"a","n":{"path":"a"}', "there is more than one JSON object, or something beside it"),
        ('<tool_call>{"path":"a"}</tool_call>', "there is more than one JSON object, or something beside it"),
        ('{{"path":"a"}}', "this is not JSON: "),
        ('{"path":"C:\\dir\\new"}', "this is not JSON: Invalid \\escape: line 1 column 12 (char 11); in a string a "),
        ('{"path":"a" "n":1}', "this is not JSON: "),
        ('{"path":"say "hi" now"}', "this is not JSON: unexpected 'hi' at character 14"),
        ("{'path':'it's'}", "this is not JSON: unexpected 's' at character 12"),
        ('{path:"a"}', "this is not JSON: unexpected 'path' at character 1"),
        ('{"path":"a",,}', "this is not JSON: "),
        ('{"path":"a","tags":[,]}', "this is not JSON: "),
        ('{"path":"a","tags":[ , ]}', "this is not JSON: "),
        ('{"path":"a","tags":["x",,]}', "this is not JSON: "),
        ('{"path":,}', "this is not JSON: "),
        ('{"path":"a","n":NaN}', "this is not JSON: unexpected 'NaN' at character 16"),
        ('{"path":"a","n":-Infinity}', "this is not JSON: -Infinity is no number"),
        ('{"path":"a","n":1e999}', "this is not JSON: 1e999 is no number"),
        ('{"path":"a","n":1_000}', "this is not JSON: "),
        ('{"path":"a" /* note */}', "this is not JSON: unexpected '/'"),
        ("{“path”: “a”}", "this is not JSON: unexpected '“'"),
        ('{"path":"a\\\nb"}', "this is not JSON: "),
    ],
    ids=repr,
)
def test_what_could_mean_something_else_is_refused(text: str, why: str) -> None:
    assert refused(text).startswith(f"- {why}")


def test_a_refusal_shows_what_came_and_which_fields_there_are() -> None:
    assert refused('{"path": "a",\n "n": [1').partition("it is long. ")[2] == snapshot("""\
This came: «{"path": "a",\\n "n": [1»
- write one JSON object; its fields are 'path', 'n', 'deep', 'tags', 'note', of which 'path' must be there\
""")
    assert len(refused('{"path": "' + "x" * 100_000)) < 500


@pytest.mark.parametrize("text", ["", "   ", "\ufeff"])
def test_no_text_is_an_object_without_fields_which_may_not_be_enough(text: str) -> None:
    assert read_arguments(ANYTHING, text).values == {}
    assert refused(text) == "- path: is missing"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(st.characters(exclude_characters="\x00", codec="utf-8")), json_values, max_size=4)


def is_clean(text: str) -> bool:
    return "\\u0000" not in text and "\\ud" not in text


@given(objects, st.booleans(), st.sampled_from([None, 2]))
def test_what_was_written_as_json_is_read_back(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    if is_clean(json.dumps(value)):
        assert read_arguments(ANYTHING, text) == Arguments(value)
        assert read_arguments(ANYTHING, json.dumps(text)).values == value


@given(objects)
def test_what_python_writes_for_an_object_is_read_as_that_object_or_refused(value: dict[str, Any]) -> None:
    try:
        read = read_arguments(ANYTHING, repr(value)).values
    except ArgumentsInvalid:  # Python's own escapes
        return
    if is_clean(json.dumps(value)):
        assert read == value


@given(json_values, st.data())
def test_no_beginning_of_a_text_is_taken_for_the_whole(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    for whole in (text, json.dumps(text), f"```json\n{text}", repr(value)):
        cut = data.draw(st.integers(1, max(1, len(whole.rstrip()) - 1)))
        if len(whole) > 1 and whole[:cut].strip("`json\n"):
            refused(whole[:cut], ANYTHING)


@given(st.text(st.sampled_from("{}[]:,\"'\\ \nTrue1-.eN`né\ufeff\ud800")))
def test_any_text_is_taken_or_refused_with_words(text: str) -> None:
    with suppress(ArgumentsInvalid):
        assert isinstance(read_arguments(ANYTHING, text).values, dict)
