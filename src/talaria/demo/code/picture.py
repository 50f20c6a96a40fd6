"""A PNG file, read whole: a broken one, or one of another kind than pictures of charts are, is refused."""

import struct
import zlib
from collections.abc import Iterator

import msgspec

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}
"""Colour type → bytes of a pixel, at 8 bits: https://www.w3.org/TR/png-3/#6Colour-values"""
_LARGEST = 64 * 1024 * 1024

Pixel = tuple[int, int, int]


class BadPicture(Exception):
    """It is no PNG, or a broken one; the message says why."""


class Picture(msgspec.Struct, frozen=True, gc=False):
    """The pixels of a picture, row by row from the top."""

    width: int
    height: int
    rows: list[bytes]
    channels: int

    def pixel(self, x: int, y: int) -> Pixel:
        """The colour of a pixel."""
        at = x * self.channels
        red, green, blue = self.rows[y][at : at + 3]
        return red, green, blue

    def column(self, x: int) -> list[Pixel]:
        """The colours of a column, from the top."""
        return [self.pixel(x, y) for y in range(self.height)]


def read_png(data: bytes) -> Picture:
    """Return the picture in a PNG file.

    Raises:
        BadPicture: it is none, or not one of 8 bits without interlacing.
    """
    chunks = list(_chunks(data))
    if not chunks or chunks[0][0] != b"IHDR" or chunks[-1] != (b"IEND", b""):
        raise BadPicture("it does not go from IHDR to IEND")
    width, height, bits, colour, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    channels = _CHANNELS.get(colour, 0)
    size = height * (1 + width * channels)
    if bits != 8 or not channels or any(rest) or not 0 < size <= _LARGEST:
        raise BadPicture(f"{width} × {height} of kind {bits}/{colour} is not looked at")
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"), size + 1)
    if len(raw) != size or not unpacker.eof:
        raise BadPicture(f"it has {len(raw)} bytes of pixels, not {size}")
    return Picture(width, height, list(_unfiltered(raw, width * channels, channels)), channels)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(SIGNATURE):
        raise BadPicture("it does not begin as a PNG file")
    at = len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack_from(">I", data.ljust(at + 4), at)
        kind, body, crc = (
            data[at + 4 : at + 8],
            data[at + 8 : at + 8 + length],
            data[at + 8 + length : at + 12 + length],
        )
        if crc != struct.pack(">I", zlib.crc32(kind + body)):
            raise BadPicture(f"the checksum of {kind.decode('latin-1')} is wrong")
        yield kind, body
        at += 12 + length


def _unfiltered(raw: bytes, stride: int, step: int) -> Iterator[bytes]:
    """Undo the filters (https://www.w3.org/TR/png-3/#9Filters)."""
    above = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        if kind == 1:
            for n in range(step, stride):
                row[n] = (row[n] + row[n - step]) & 255
        elif kind == 2:
            for n in range(stride):
                row[n] = (row[n] + above[n]) & 255
        elif kind in (3, 4):
            _unfilter(row, above, step, mean=kind == 3)
        elif kind:
            raise BadPicture(f"there is no filter {kind}")
        yield bytes(row)
        above = row


def _unfilter(row: bytearray, above: bytearray, step: int, *, mean: bool) -> None:
    for n, value in enumerate(row):
        left, corner = (row[n - step], above[n - step]) if n >= step else (0, 0)
        row[n] = (value + ((left + above[n]) // 2 if mean else _paeth(left, above[n], corner))) & 255


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner
