"""Dirty streams: each gives exactly what is expected of it, and the same deltas however its bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.field_cases import Stream, decoded, splits, streams

ALL = list(streams())
parametrized = pytest.mark.parametrize("stream", ALL, ids=[stream.name for stream in ALL])


@parametrized
def test_a_stream_gives_exactly_what_is_expected(stream: Stream) -> None:
    assert decoded([stream.body])[1] == stream.expected


@parametrized
def test_byte_by_byte_it_gives_the_same(stream: Stream) -> None:
    assert decoded([bytes([byte]) for byte in stream.body]) == decoded([stream.body])


@parametrized
@given(data=st.data())
def test_any_split_gives_the_same_deltas(stream: Stream, data: st.DataObject) -> None:
    assert decoded(data.draw(splits(stream.body))) == decoded([stream.body])


@parametrized
def test_other_line_ends_give_the_same_deltas(stream: Stream) -> None:
    if b"\r" in stream.body or not stream.body.startswith(b"data:"):
        return
    for end in (b"\r\n", b"\r"):
        assert decoded([stream.body.replace(b"\n", end)]) == decoded([stream.body])
