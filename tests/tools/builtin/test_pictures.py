"""Pictures: real ones of kinds that models take, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.tools.builtin.pictures import Picture, picture_type, read_picture
from tests.tools.builtin.pictures import GIF, JPEG, WEBP, png


@pytest.mark.parametrize(
    ("data", "picture"),
    [
        (png(3, 2), Picture("image/png", 3, 2)),
        (GIF, Picture("image/gif", 3, 2)),
        (JPEG, Picture("image/jpeg", 7, 5)),
        (WEBP, Picture("image/webp", 9, 6)),
    ],
)
def test_pictures_are_known_by_their_bytes(data: bytes, picture: Picture) -> None:
    assert read_picture(data) == picture
    assert read_picture(data[: len(data) * 2 // 3]) is None
    assert picture_type(data[:12]) == picture.media_type


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        png().replace(b"IDAT", b"IDAX"),
        png()[:-20] + b"\0" * 20,
        png(9000, 1),
        b"\x89PNG\r\n\x1a\n<html>",
        b"\xff\xd8\xff\xd9",
        b"RIFF\x00\x00\x00\x00WEBPxxxx",
    ],
)
def test_what_a_provider_would_refuse_is_no_picture(data: bytes) -> None:
    assert read_picture(data) is None


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\x10\0\0\0WEBP"]), st.binary(max_size=80)
)
def test_no_bytes_break_the_reader(magic: bytes, rest: bytes) -> None:
    read_picture(magic + rest)
