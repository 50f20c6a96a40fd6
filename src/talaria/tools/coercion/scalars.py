"""Readings of a value as a number, a boolean, null, a text, a list or an object: the value, or MISS."""

import math
import re
from typing import Any

from talaria.tools.coercion.parts import MISS
from talaria.tools.json_text import read_container

LONGEST = 100
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?P<rest>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.000")
_EXACT = 2**53
_WHOLE: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    str: ("string",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}


def kinds(value: Any) -> tuple[str, ...]:
    """Return the JSON Schema types of a JSON value, the narrowest first."""
    if isinstance(value, float):
        return ("integer", "number") if value.is_integer() else ("number",)
    return _WHOLE.get(type(value), ())  # pyright: ignore[reportUnknownArgumentType]


def to_number(value: Any) -> Any:
    """Read a JSON number in a string; separators, leading zeros, units and infinities are none."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return MISS
    found = _NUMBER.fullmatch(value.strip())
    if found is None:
        return MISS
    if not found["rest"]:
        return int(found[0])
    number = float(found[0])
    return number if math.isfinite(number) else MISS


def to_integer(value: Any) -> Any:
    """Read a whole number in a string, also as 5.0 or 1e3; 1.000 is one to some and a thousand to others."""
    if isinstance(value, str) and _THOUSANDS.fullmatch(value.strip()):
        return MISS
    number = to_number(value)
    if isinstance(number, float):
        return int(number) if number.is_integer() and abs(number) <= _EXACT else MISS
    return number


def to_boolean(value: Any) -> Any:
    """Read true or false in a string, in any letter case; yes, no, 1 and 0 are neither."""
    said = value.strip().lower() if isinstance(value, str) else ""
    return {"true": True, "false": False}.get(said, MISS)


def to_null(value: Any) -> Any:
    """Read null, or Python's None, in a string."""
    return None if isinstance(value, str) and value.strip() in ("null", "None") else MISS


def to_string(value: Any) -> Any:
    """Write a whole number as text, as models leave the quotes of ids away; nothing else has just one text."""
    return str(value) if type(value) is int else MISS


def to_array(value: Any) -> Any:
    """Read a JSON list in a string."""
    found = read_container(value) if isinstance(value, str) else None
    return found if isinstance(found, list) else MISS


def to_object(value: Any) -> Any:
    """Read a JSON object in a string."""
    found = read_container(value) if isinstance(value, str) else None
    return found if isinstance(found, dict) else MISS


READINGS = {
    "integer": to_integer,
    "number": to_number,
    "boolean": to_boolean,
    "null": to_null,
    "string": to_string,
    "array": to_array,
    "object": to_object,
}
