"""Encodings of files: which one it is, and the same bytes again."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.tools.builtin.text_files import read_text


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("数据,值\n".encode(), "数据,值\n", ""),
        (codecs.BOM_UTF8 + b"a\n", "a\n", ""),
        ("产品名称,销量(万)\n苹果,12\n".encode("gbk"), "产品名称,销量(万)\n苹果,12\n", "not in UTF-8; read as GB18030"),
        ("四月“销售”……\n".encode("gb18030"), "四月“销售”……\n", "not in UTF-8; read as GB18030"),
        ("café crème\n".encode("latin-1"), "café crème\n", "not in UTF-8; read as LATIN-1"),
        (codecs.BOM_UTF16_LE + "表\n".encode("utf-16-le"), "表\n", "in UTF-16-LE"),
        (codecs.BOM_UTF16_BE + "表\n".encode("utf-16-be"), "表\n", "in UTF-16-BE"),
    ],
)
def test_the_usual_encodings_are_known(data: bytes, text: str, note: str) -> None:
    file = read_text(data)
    assert file is not None
    assert (file.text, file.note) == (text, note)
    assert file.with_text(file.text) == data


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x00\x00", bytes(range(1, 32)) * 40 + b"\xff", codecs.BOM_UTF16_LE + b"\x00\xd8"]
)
def test_binary_is_no_text(data: bytes) -> None:
    assert read_text(data) is None


@given(st.binary(max_size=200))
def test_whatever_is_text_is_written_back_as_it_was(data: bytes) -> None:
    file = read_text(data)
    if file is not None:
        assert file.with_text(file.text) == data


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=8, max_size=40), st.integers(0, 3))
def test_a_text_that_is_cut_is_still_text(text: str, missing: int) -> None:
    data = text.encode()
    file = read_text(data[: len(data) - missing], is_whole=False)
    assert file is not None
    assert text.startswith(file.text)
