"""Makes the text that the model gets of what a tool returned."""

import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from talaria.core.messages import Image
from talaria.core.text import valid_json, valid_text
from talaria.tools.errors import ResultInvalid

DONE = "done"
NOTHING = "null"
_ADVICE = "return text, JSON types, a dataclass or a model"
_BYTES = (bytes, bytearray, memoryview)


@dataclass(frozen=True, slots=True)
class Pictured:
    """A built-in tool's result with pictures: models that see none get the text alone."""

    text: str
    images: tuple[Image, ...]


def result_text(value: Any, *, says_nothing: bool = False) -> str:
    """Return what is text (dates, Decimal, enums of text too) as it is, and everything else as compact JSON.

    None is `done` from a tool that never returns anything (`says_nothing`), else `null`: it looked and found none.

    Raises:
        ResultInvalid: the value, or something in it, has no JSON form.
    """
    if value is None:
        return DONE if says_nothing else NOTHING
    try:
        plain = msgspec.to_builtins(value, builtin_types=_BYTES, str_keys=True, enc_hook=_plain)
        return valid_text(plain if isinstance(plain, str) else _encode(plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ResultInvalid(f"the tool's result, of type {type(value).__name__}, cannot be sent: {error}") from error


def _plain(value: Any) -> Any:
    """What msgspec does not know: pydantic models (without importing pydantic for it), and paths."""
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form; {_ADVICE}")


def _encode(plain: Any) -> str:
    try:
        return _write(plain)
    except ValueError:  # NaN or an infinity, which JSON lacks
        return _write(valid_json(plain))


def _refuse(value: Any) -> Any:
    what = "bytes" if isinstance(value, _BYTES) else type(value).__name__
    raise TypeError(f"{what} has no JSON form; {_ADVICE}, or write a file and return its path")


_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_refuse).encode
