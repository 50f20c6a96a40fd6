"""Values of databases as JSON has them, and rows within limits."""

import math
from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

_NESTED = (list, dict)
LONGEST = 4000
"""Characters of one value."""


def plain(value: Any) -> Any:
    """Return the value as JSON has it: what JSON lacks as text, bytes as 0x…, long text cut, with its length."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal() | date() | time() | timedelta():
            return str(value)
        case bytes():
            shown = value[: LONGEST // 2].hex()
            return f"0x{shown}" + _rest(len(value), LONGEST // 2, "bytes")
        case str():
            return value[:LONGEST] + _rest(len(value), LONGEST, "characters")
        case _ if type(value) in _NESTED:
            return value
        case _:
            return plain(str(value))


def _rest(length: int, shown: int, what: str) -> str:
    return f"… ({length} {what})" if length > shown else ""


def size(row: Sequence[Any]) -> int:
    """How much memory the values of a row take, about."""
    return sum(len(each) if isinstance(each, str | bytes) else 8 for each in row)
