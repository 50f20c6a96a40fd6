"""Reads a call's arguments: JSON text → one object, with the repairs that took, none of which can change a meaning."""

import json
import math
from contextlib import suppress
from typing import Any, cast

import msgspec

from talaria.core.text import valid_json
from talaria.tools.json_mending import CUT_OFF, Unreadable, mend

_decode = msgspec.json.Decoder().decode
_MARK = "\ufeff"


def read_object(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object that `text` says, and what had to be repaired; no text is an object without fields.

    Raises:
        Unreadable: the text is cut off, or says no object, or several.
        RecursionError: it is nested too deeply.
    """
    try:
        value = _decode(text)
    except (ValueError, RecursionError):  # also a lone surrogate, and a byte order mark
        if not text or text.isspace():
            return {}, ()
        return _read_dirty(text)
    if isinstance(value, dict):
        return cast("dict[str, Any]", valid_json(value) if "\\u0000" in text else value), ()
    return _read_inner(value)


def read_container(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or the list that a string holds, or None where it holds nothing of the kind."""
    text = text.strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        value = _strictly(text)
    except ValueError:
        try:
            value = _strictly(mend(text, 0)[0])
        except ValueError:
            return None
    return value


def _read_dirty(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    repairs = ["byte order mark"] if text.startswith(_MARK) else []
    text = text.lstrip(_MARK)
    if not text.strip():
        return {}, tuple(repairs)
    value, more = _string(text) if text.lstrip().startswith('"') else _mended(text)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value), (*repairs, *more)
    value, more = _read_inner(value)
    return value, (*repairs, *more)


def _string(text: str) -> tuple[Any, list[str]]:
    try:
        return _strictly(text), []
    except ValueError as error:
        raise _not_json(error) from error


def _mended(text: str) -> tuple[Any, list[str]]:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not starts:
        raise Unreadable("there is no JSON object in it; write one")
    mended, repairs = mend(text, min(starts))
    try:
        return _strictly(mended), repairs
    except ValueError as error:
        raise _not_json(error) from error


def _not_json(error: ValueError) -> Unreadable:
    said = str(error)
    if said.startswith("Unterminated string"):
        return Unreadable(CUT_OFF)
    return Unreadable(f"this is not JSON: {said}{'; in a string a backslash is written twice' * ('escape' in said)}")


def _read_inner(value: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read an object that was encoded twice."""
    if not isinstance(value, str):
        raise Unreadable(f"expected one JSON object, got {_named(value)}")
    inner = value.strip()
    if not inner.startswith("{"):
        raise Unreadable("expected one JSON object, got a string")
    try:
        return _strictly(inner), ("encoded twice",)
    except ValueError:
        found, repairs = _mended(inner)
        return found, ("encoded twice", *repairs)


def _strictly(text: str) -> Any:
    """Decode JSON; lone surrogates are replaced, numbers that are none are refused."""
    if "\\" not in text:
        with suppress(ValueError):
            return _decode(text)
    return valid_json(json.loads(text, parse_constant=_no_number, parse_float=_finite))


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text[:20]} is no number")


def _named(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "a list" if isinstance(value, list) else "a number"
