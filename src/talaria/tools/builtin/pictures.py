"""Pictures: whether bytes really are one, of a kind that models take. A broken one would spoil a whole conversation."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

LARGEST = 3_750_000
"""Bytes: as base64 that is 5 MB, the most that providers take."""
WIDEST = 8000
"""Pixels a side that providers take."""
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture is."""

    media_type: str
    width: int
    height: int


def picture_type(data: bytes) -> str:
    """Return the media type of a picture that these bytes begin, or an empty string."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _KINDS if data.startswith(magic)), "")


def read_picture(data: bytes) -> Picture | None:
    """Return what a picture is, or None if it is broken, or not of a size that models take."""
    media_type = picture_type(data)
    try:
        width, height = _SIZES[media_type](data)
    except (ValueError, IndexError, struct.error):
        return None
    good = 0 < width <= WIDEST and 0 < height <= WIDEST
    return Picture(media_type, width, height) if good else None


def _png(data: bytes) -> tuple[int, int]:
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if kinds[0] != b"IHDR" or kinds[-1] != b"IEND" or b"IDAT" not in kinds:
        raise ValueError("chunks are missing")
    return struct.unpack_from(">II", chunks[0][1])


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks up to the last, each with the right checksum."""
    at, kind = 8, b""
    while kind != b"IEND":
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        if zlib.crc32(kind + body) != checksum:
            raise ValueError("a checksum is wrong")
        yield kind, body
        at += 12 + length


def _jpeg(data: bytes) -> tuple[int, int]:
    """The size stands in the frame header, SOF0 to SOF15 but for DHT, JPG and DAC; the end is a marker too."""
    if b"\xff\xd9" not in data[-1024:]:
        raise ValueError("it has no end")
    at = 2
    while True:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if data[at] != 0xFF or length < 2:
            raise ValueError("no marker where one must be")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length


def _gif(data: bytes) -> tuple[int, int]:
    if b"\x3b" not in data[-64:]:
        raise ValueError("it has no end")
    return struct.unpack_from("<HH", data, 6)


def _webp(data: bytes) -> tuple[int, int]:
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 > len(data):
        raise ValueError("it has no end")
    match data[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case _:
            raise ValueError("no picture in it")


def _none(data: bytes) -> tuple[int, int]:
    raise ValueError("no picture")


_SIZES = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp, "": _none}
