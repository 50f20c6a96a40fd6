"""Dates and times: the one form in which tools get them, and how other forms are read."""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from talaria.tools.coercion.clock import MIDNIGHT, Clock, Unclear, read_clock
from talaria.tools.coercion.days import read_day

LONGEST = 80
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?"
_DATE_FORM = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)", re.ASCII)
_DATE_TIME_FORM = re.compile(rf"(?P<day>\d{{4}}-\d\d-\d\d)T{_CLOCK}", re.ASCII)
_TIME_FORM = re.compile(_CLOCK, re.ASCII)
_EPOCH = re.compile(r"(?P<seconds>[1-9]\d{9})(?P<fraction>\.\d{1,6})?|(?P<millis>[1-9]\d{12})(?:\.0)?", re.ASCII)
_COMPACT = re.compile(r"\d{14}", re.ASCII)
_START = datetime(1970, 1, 1, tzinfo=UTC)


def is_date(text: str) -> bool:
    """Whether a text is a date as tools get it."""
    return _is_day(_DATE_FORM.fullmatch(text))


def is_date_time(text: str) -> bool:
    """Whether a text is a date and time as tools get it; the offset may be missing."""
    return _is_day(_DATE_TIME_FORM.fullmatch(text))


def is_time(text: str) -> bool:
    """Whether a text is a time of day as tools get it; the offset may be missing."""
    return _TIME_FORM.fullmatch(text) is not None


def to_date(value: Any) -> str:
    """Read a date; a time of day is left away only where it is midnight.

    Raises:
        Unclear: which day is meant is in doubt.
    """
    day, clock = _read(value)
    if not clock.is_midnight:
        raise Unclear("a date has no time of day")
    return day.isoformat()


def to_date_time(value: Any) -> str:
    """Read a date and time; a date alone is its beginning. No offset is added, except that a number counts in UTC.

    Raises:
        Unclear: which moment is meant is in doubt.
    """
    day, clock = _read(value)
    return f"{day.isoformat()}T{clock}"


def to_time(value: Any) -> str:
    """Read a time of day.

    Raises:
        Unclear: which time is meant is in doubt.
    """
    text = _plain(value) if isinstance(value, str) else ""
    return str(read_clock(text.removeprefix("t"), basic=text.startswith("t")))


CHECKS: dict[str, Callable[[str], bool]] = {"date": is_date, "date-time": is_date_time, "time": is_time}
READINGS: dict[str, Callable[[Any], str]] = {"date": to_date, "date-time": to_date_time, "time": to_time}


def _is_day(found: re.Match[str] | None) -> bool:
    if found is None:
        return False
    try:
        date.fromisoformat(found["day"])
    except ValueError:
        return False
    return True


def _read(value: Any) -> tuple[date, Clock]:
    text = _plain(value if isinstance(value, str) else repr(value))
    epoch = _EPOCH.fullmatch(text)
    if epoch is not None:
        return _from_epoch(epoch)
    if _COMPACT.fullmatch(text):
        text = f"{text[:8]}t{text[8:]}"
    day, rest = read_day(text)
    if not rest:
        return day, MIDNIGHT
    clock = rest.removeprefix(",").strip().removeprefix("at ")
    return day, read_clock(clock.removeprefix("t"), basic=clock.startswith("t"))


def _from_epoch(found: re.Match[str]) -> tuple[date, Clock]:
    """Ten digits are seconds since 1970, thirteen milliseconds."""
    fraction = (found["fraction"] or "")[1:].rstrip("0")
    seconds = int(found["seconds"] or found["millis"][:-3])
    if found["millis"]:
        fraction = found["millis"][-3:] if int(found["millis"][-3:]) else ""
    moment = _START + timedelta(seconds=seconds)
    return moment.date(), Clock(moment.hour, moment.minute, moment.second, fraction, "Z")


def _plain(text: str) -> str:
    if len(text) > LONGEST:
        raise Unclear("this is no date or time")
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())
