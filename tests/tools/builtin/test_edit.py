"""Edits: exact, told in numbers, and nothing is changed that is not certain."""

import asyncio
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import InvalidRequest
from talaria.tools.builtin.edit import edited
from tests.tools.builtin.conftest import Bench

CODE = b"def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"


def refused(data: bytes, old: str, new: str = "x") -> str:
    with pytest.raises(InvalidRequest) as error:
        edited(data, old, new)
    return error.value.message


def test_what_is_there_once_is_replaced_and_shown() -> None:
    changed, said = edited(CODE, "return a + b", "return b + a")
    assert changed == CODE.replace(b"a + b", b"b + a")
    assert "     2\t    return b + a" in said


def test_what_is_there_twice_is_refused_with_its_places() -> None:
    assert "2 times, in lines 1, 5" in refused(CODE, "(a, b)")
    changed, said = edited(CODE, "(a, b)", "(x, y)", every=True)
    assert changed.count(b"(x, y)") == 2
    assert said.startswith("replaced 2 times")


@pytest.mark.parametrize(
    ("old", "why"),
    [
        ("", "old_string is empty"),
        ("x", "nothing to change"),
        ("def  add(a,b):", "Lines 1 to 1 differ from it in spaces only:\ndef add(a, b):"),
        ("\treturn a - b", "Lines 6 to 6 differ from it in spaces only"),
        ("     2\t    return a + b", "leave them out"),
        ("def sub(a, c):\n    return a - c", "begins at line 5"),
        ("something else entirely", "nothing like it"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(old: str, why: str) -> None:
    assert why in refused(CODE, old)


def test_ends_of_lines_and_marks_stay_as_they_are() -> None:
    windows = codecs.BOM_UTF8 + b"one\r\ntwo\r\nthree\r\n"
    changed, _ = edited(windows, "one\ntwo\n", "1\n2\n3\n")
    assert changed == codecs.BOM_UTF8 + b"1\r\n2\r\n3\r\nthree\r\n"
    changed, _ = edited(windows, "two", "2\n2")
    assert changed == codecs.BOM_UTF8 + b"one\r\n2\r\n2\r\nthree\r\n"


def test_the_encoding_stays_and_what_it_lacks_is_refused() -> None:
    changed, _ = edited("销量,十二\n".encode("gbk"), "十二", "十三")
    assert changed == "销量,十三\n".encode("gbk")
    assert "has no '中'" in refused("café\n".encode("latin-1"), "caf", "中")


def test_binary_is_refused() -> None:
    assert "binary" in refused(b"a\0b", "a")


@given(st.text("ab\n\r ", max_size=30), st.text("ab\n ", min_size=1, max_size=3), st.text("abc\n", max_size=3))
def test_an_edit_changes_what_it_names_and_nothing_else(text: str, old: str, new: str) -> None:
    data = text.encode()
    try:
        changed, _ = edited(data, old, new)
    except InvalidRequest:
        return
    common = next((at for at, (a, b) in enumerate(zip(data, changed, strict=False)) if a != b), len(changed))
    assert abs(len(changed) - len(data)) <= 2 * max(len(old), len(new))
    assert common >= 0
    assert data != changed


async def test_edits_at_once_lose_nothing(bench: Bench) -> None:
    await bench("Write", file_path="a.txt", content="".join(f"line {n}.\n" for n in range(8)))
    edits = [bench("Edit", file_path="a.txt", old_string=f"line {n}.", new_string=f"changed {n}.") for n in range(8)]
    await asyncio.gather(*edits)
    assert await bench.sandbox.read("a.txt") == b"".join(b"changed %d.\n" % n for n in range(8))
