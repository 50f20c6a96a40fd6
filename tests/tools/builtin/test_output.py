"""What commands write, as a model reads it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.tools.builtin.output import SAID_BINARY, LiveOutput, output_text, plain


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\x1b[1;31mred\x1b[0m and \x1b]0;a title\x07plain\n", "red and plain\n"),
        ("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("10%\r50%\r", "50%"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("a\tb\x07\x00c\n", "a\tbc\n"),
        ("\x1b[", ""),
        ("中文 é 🚀", "中文 é 🚀"),
    ],
)
def test_what_is_meant_for_terminals_is_left_out(written: str, read: str) -> None:
    assert plain(written) == read


def test_floods_keep_head_and_tail_and_say_how_much_is_gone() -> None:
    text = output_text("头".encode() * 3 + "尾".encode()[:2], 1000, "尾".encode()[1:] + b"end\n")
    assert text == "头头头\n[… 1000 bytes of output left out …]\nend\n"


def test_binary_is_said_to_be_binary() -> None:
    assert output_text(b"\x7fELF\x00\x01", 5, b"xx") == f"13 bytes: {SAID_BINARY}"


@given(st.text(max_size=60).filter(lambda text: "\0" not in text), st.lists(st.integers(0, 240), max_size=8))
def test_live_output_is_the_same_however_its_bytes_are_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    said: list[str] = []
    live = LiveOutput(said.append)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for begin, end in pairwise(places):
        live(data[begin:end])
    assert "".join(said) == text


def test_live_output_stops_where_it_becomes_binary() -> None:
    said: list[str] = []
    live = LiveOutput(said.append)
    for data in (b"begin ", b"\x00\x01", b"more"):
        live(data)
    assert said == ["begin ", SAID_BINARY]
