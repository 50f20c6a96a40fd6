"""Entries to bytes and back. Old versions are upgraded step by step; what is too large for a row becomes a blob."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from talaria.journal.entries import AnyEntry, Oversize

OVERSIZE = 64 * 1024
"""Bytes from which on an entry is kept as a blob."""

UPGRADES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From an old tag to a function that returns the same entry in the next version's shape, `type` included."""

_encode = msgspec.json.Encoder().encode
_decode: Callable[[bytes], AnyEntry | Oversize] = msgspec.json.Decoder(AnyEntry | Oversize).decode


class _Tag(msgspec.Struct):
    type: str


_tag = msgspec.json.Decoder(_Tag).decode


def encode_entry(entry: AnyEntry) -> tuple[bytes, tuple[str, bytes] | None]:
    """Return the row's bytes, and the blob (reference, bytes) that they name, if any."""
    data = _encode(entry)
    if len(data) <= OVERSIZE:
        return data, None
    ref = blob_ref(data)
    return _encode(Oversize(ref)), (ref, data)


def decode_entry(data: bytes) -> AnyEntry | Oversize:
    """Return the entry, upgraded to its newest version.

    Raises:
        msgspec.DecodeError: not an entry, or one of a newer Talaria.
    """
    try:
        return _decode(data)
    except msgspec.ValidationError:
        if _tag(data).type not in UPGRADES:
            raise
    raw: dict[str, Any] = msgspec.json.decode(data)
    while raw["type"] in UPGRADES:
        raw = UPGRADES[raw["type"]](raw)
    return msgspec.convert(raw, AnyEntry)


def blob_ref(data: bytes) -> str:
    """The reference under which these bytes are kept."""
    return hashlib.sha256(data).hexdigest()
