"""Text that every store and wire can hold: no U+0000, no lone surrogates; JSON that survives dirty senders."""

import json
import math
import re
from typing import Any

import msgspec

_BAD = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HIGH = ("\ud800", "\udbff")
_TOO_DEEP = "JSON nested too deeply"
_decode = msgspec.json.Decoder().decode


def valid_text(text: str) -> str:
    """Return `text` with surrogate pairs joined, and U+0000 and lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text.replace("\x00", "\ufffd") if "\x00" in text else text
    if _BAD.search(text) is None:
        return text
    return _BAD.sub("\ufffd", _PAIR.sub(_join, text))


def _join(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def printable(text: str) -> str:
    """Return `text` with nothing in it that a terminal would take for a command: what models wrote is shown there."""
    return _COMMANDS.sub("\ufffd", text)


class TextJoiner:
    """Makes a stream of text pieces valid; a character whose two surrogates came in two pieces is kept whole."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is held back."""
        return not self._held

    def feed(self, piece: str) -> str:
        """Return what of the text so far can be said now; a trailing high surrogate waits for its other half."""
        if piece.isascii() and not self._held:
            return piece.replace("\x00", "\ufffd") if "\x00" in piece else piece
        text = self._held + piece
        self._held = ""
        if text and _HIGH[0] <= text[-1] <= _HIGH[1]:
            text, self._held = text[:-1], text[-1]
        return valid_text(text)

    def end(self) -> str:
        """Return what was still held back, made valid."""
        held, self._held = self._held, ""
        return valid_text(held)


def valid_json(value: Any) -> Any:
    """Return a decoded JSON value with every string in it (keys too) made valid; NaN and infinities become None."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [valid_json(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {valid_text(str(key)): valid_json(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loads_raw(data: bytes | str) -> Any:
    """Decode JSON, keeping lone surrogates (a stream may bring the other half later).

    msgspec refuses lone surrogates and NaN; the standard library's parser is asked then.

    Raises:
        ValueError: the data is not JSON.
    """
    try:
        return _loads(data)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def loads(data: bytes | str) -> Any:
    """Decode JSON into values whose text is valid.

    Raises:
        ValueError: the data is not JSON.
    """
    try:
        value = _decode(data)
        return valid_json(value) if b"\\u0000" in (data if isinstance(data, bytes) else data.encode()) else value
    except (msgspec.DecodeError, UnicodeError):
        return _cleaned(data)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def _cleaned(data: bytes | str) -> Any:
    try:
        return valid_json(json.loads(data))
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def _loads(data: bytes | str) -> Any:
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeError):
        return json.loads(data)
