"""The text a model gets of what a tool returned."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from talaria.core.text import loads, valid_json
from talaria.tools.errors import ResultInvalid
from talaria.tools.result import result_text


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Model(BaseModel):
    on: date
    amount: Decimal = Decimal("1.50")


@dataclass
class Pair:
    left: Any
    right: Model | None = None


class Row(msgspec.Struct):
    id: int


def test_text_stays_as_it_is() -> None:
    assert result_text('say "hi"\n') == 'say "hi"\n'


def test_text_that_no_store_holds_is_made_valid() -> None:
    assert result_text("a\x00b\ud800") == "a\ufffdb\ufffd"
    assert result_text(["é\ud800"]) == '["é\ufffd"]'


def test_nothing_is_said_as_done_only_by_a_tool_that_never_says_anything() -> None:
    assert result_text(None, says_nothing=True) == "done"
    assert result_text(None) == "null"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (1.5, "1.5"),
        ([1, "a", None], '[1,"a",null]'),
        ({"a": (1, 2), 3: {"b"}}, '{"a":[1,2],"3":["b"]}'),
        (date(2024, 2, 29), "2024-02-29"),
        ({date(2024, 2, 29): Colour.RED}, '{"2024-02-29":"red"}'),
        (Decimal("1.50"), "1.50"),
        (Colour.RED, "red"),
        (Level.HIGH, "3"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Row(7), '{"id":7}'),
        (Model(on=date(2024, 2, 29)), '{"on":"2024-02-29","amount":"1.50"}'),
        (
            Pair([Row(1)], Model(on=date(2024, 2, 29))),
            '{"left":[{"id":1}],"right":{"on":"2024-02-29","amount":"1.50"}}',
        ),
    ],
)
def test_values_become_compact_json(value: Any, text: str) -> None:
    assert result_text(value) == text


def test_numbers_that_json_lacks_become_null() -> None:
    assert result_text({"a": [float("nan"), float("inf")]}) == '{"a":[null,null]}'
    assert result_text(float("nan")) == "null"


@pytest.mark.parametrize("value", [b"x", bytearray(b"x"), {"a": [b"x"]}, Pair(memoryview(b"x"))])
def test_bytes_are_refused_wherever_they_are(value: Any) -> None:
    with pytest.raises(ResultInvalid, match=r"has no JSON form; return text.* or write a file and return its path"):
        result_text(value)


@pytest.mark.parametrize("value", [object(), [object()], Model, iter([1]), {(1, 2): 3}])
def test_what_has_no_json_form_is_refused(value: Any) -> None:
    with pytest.raises(ResultInvalid, match=f"of type {type(value).__name__}, cannot be sent"):
        result_text(value)


def test_a_result_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ResultInvalid):
        result_text(loop)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values.filter(lambda value: value is not None and not isinstance(value, str)))
def test_json_values_survive(value: Any) -> None:
    assert loads(result_text(value)) == valid_json(value)
