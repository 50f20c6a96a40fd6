"""How long a provider asks to be left alone, in every form in which providers say it."""

import math
import re
from collections.abc import Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime

_SPAN = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII)
_UNITS = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"', re.ASCII)
_RESETS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens")


def retry_delay(body: str) -> float | None:
    """Return the seconds to wait that an error's body asks for, as Google writes it; None for a quota of the day.

    See google.rpc.RetryInfo in https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto.
    """
    found = _DELAY.search(body)
    return float(found[1]) if found and "PerDay" not in body else None


def retry_after(headers: Sequence[tuple[str, str]], now_ms: int) -> float | None:
    """Return the seconds to wait, never negative, or None where the headers say nothing that makes sense.

    Args:
        headers: names in lower case.
        now_ms: milliseconds since 1970.

    `retry-after-ms` is the most exact and wins; then `retry-after`, in seconds or as an HTTP date (RFC 9110 10.2.3);
    then the times at which used-up rate limits start anew ("1m30s").
    """
    found = dict(reversed(headers))
    milliseconds = _number(found.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = found.get("retry-after", "")
    seconds = _number(text)
    if seconds is None:
        seconds = _date(text, now_ms)
    return _reset(found) if seconds is None else seconds


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(value, 0.0) if math.isfinite(value) else None


def _date(text: str, now_ms: int) -> float | None:
    try:
        when = parsedate_to_datetime(text)
        if when.tzinfo is None:  # HTTP dates are in UTC, also those that do not say so
            when = when.replace(tzinfo=UTC)
        return max(when.timestamp() - now_ms / 1000, 0.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _reset(headers: dict[str, str]) -> float | None:
    waits: list[float] = []
    for name in _RESETS:
        match = _SPAN.fullmatch(headers.get(name, "").strip())
        if match and match[0] and headers.get(name.replace("reset", "remaining"), "0").strip() == "0":
            waits.append(sum(float(part or 0) * unit for part, unit in zip(match.groups(), _UNITS, strict=True)))
    return max(waits) if waits else None
