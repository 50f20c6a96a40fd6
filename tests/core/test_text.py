"""Text and JSON from dirty senders become what every store and wire can hold."""

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.text import TextJoiner, loads, loads_raw, printable, valid_json, valid_text

dirty = st.text(
    st.one_of(
        st.sampled_from(["\x00", "\ud83d", "\ude00", "\ud800", "\udfff", "\ufffd", "a", "\N{GRINNING FACE}"]),
        st.characters(),
    ),
    max_size=20,
)


def is_valid(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


@given(dirty)
def test_any_text_becomes_valid_once_and_for_all(text: str) -> None:
    once = valid_text(text)
    assert is_valid(once)
    assert valid_text(once) == once
    once.encode()


@given(st.text())
def test_valid_text_stays_as_it_is(text: str) -> None:
    if "\x00" not in text:
        assert valid_text(text) == text


def test_two_halves_are_one_character_and_a_half_is_none() -> None:
    assert valid_text("\ud83d\ude00") == "\N{GRINNING FACE}"
    assert valid_text("a\ud83d") == "a\ufffd"
    assert valid_text("\ude00\ud83d") == "\ufffd\ufffd"
    assert valid_text("\x00") == "\ufffd"


@given(dirty, st.lists(st.integers(0, 20), max_size=8))
def test_however_a_text_is_cut_the_pieces_say_the_same(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    joiner = TextJoiner()
    said = [joiner.feed(text[start:end]) for start, end in pairwise(places)]
    said.append(joiner.end())
    assert "".join(said) == valid_text(text)
    assert all(is_valid(piece) for piece in said)
    assert joiner.is_clean
    assert joiner.end() == ""


values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), dirty),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(dirty, inner, max_size=3)),
    max_leaves=8,
)


@given(values)
def test_json_as_python_writes_it_is_read_and_made_valid(value: Any) -> None:
    text = json.dumps(value)
    read = loads(text)
    assert _is_clean(read)
    assert _same(read, valid_json(json.loads(text)))
    assert _same(loads(text.encode()), read)


def _is_clean(value: Any) -> bool:
    match value:
        case str():
            return is_valid(value)
        case list():
            return all(_is_clean(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return all(is_valid(key) and _is_clean(item) for key, item in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case float():
            return math.isfinite(value)
        case _:
            return True


def _same(left: Any, right: Any) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@given(st.one_of(st.binary(max_size=30), dirty))
def test_whatever_is_no_json_is_a_value_error(data: bytes | str) -> None:
    for read in (loads, loads_raw):
        try:
            read(data)
        except ValueError:
            continue


@pytest.mark.parametrize("inner", ["1", '"\\u0000"', '"\\ud800"', "NaN"])
@pytest.mark.parametrize("depth", [100, 400, 900, 100_000])
def test_json_nested_too_deeply_is_a_value_error(depth: int, inner: str) -> None:
    for data in ("[" * depth + inner + "]" * depth, '{"a":' * depth + inner + "}" * depth):
        try:
            loads(data)
        except ValueError as error:
            assert "deep" in str(error) or "recursion" in str(error).lower()  # noqa: PT017


def test_the_last_of_two_equal_keys_counts_and_halves_wait_for_their_other_half() -> None:
    assert loads('{"a":1,"a":2}') == {"a": 2}
    assert loads_raw('"\\ud83d"') == "\ud83d"
    assert loads('"\\ud83d"') == "\ufffd"
    assert loads("[1e999, -Infinity, NaN]") == [None, None, None]


def test_a_terminal_is_told_nothing_but_text() -> None:
    assert printable("a\x1b[2J\r\x9b1m\u202eb\tc\n") == "a\ufffd[2J\ufffd\ufffd1m\ufffdb\tc\n"
