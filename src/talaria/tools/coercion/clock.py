"""Reads the time of day and the offset from UTC out of what models write for them."""

import re
from typing import NamedTuple

_SECONDS = r"(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
_HALF = r"(?P<half>[ap])\.?m\.?"
_OFFSET = r"(?: ?(?P<zone>z|utc|gmt|(?P<sign>[+-])(?P<ahead>\d\d):?(?P<minutes>\d\d)?))?"
_COLONS = re.compile(rf"(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::{_SECONDS})?(?: ?{_HALF})?{_OFFSET}", re.ASCII)
_BASIC = re.compile(rf"(?P<hour>\d\d)(?P<minute>\d\d)(?:{_SECONDS})?{_OFFSET}", re.ASCII)
_HOUR = re.compile(rf"(?P<hour>\d{{1,2}}) ?{_HALF}{_OFFSET}", re.ASCII)
_CHINESE = re.compile(
    rf"(?P<half>上午|下午)?(?P<hour>\d{{1,2}})[时時点點](?:(?P<minute>\d{{1,2}})分?)?(?:(?P<second>\d{{1,2}})秒)?{_OFFSET}",
    re.ASCII,
)
_AFTERNOON = ("p", "下午")


class Unclear(ValueError):
    """A date or a time that means several things, or none; says why, to a model."""


class Clock(NamedTuple):
    """A time of day; `zone` is "" where none was given."""

    hour: int
    minute: int
    second: int
    fraction: str
    zone: str

    @property
    def is_midnight(self) -> bool:
        """Whether the day begins."""
        return (self.hour, self.minute, self.second) == (0, 0, 0) and not self.fraction.strip("0")

    def __str__(self) -> str:
        fraction = f".{self.fraction}" if self.fraction else ""
        return f"{self.hour:02}:{self.minute:02}:{self.second:02}{fraction}{self.zone}"


MIDNIGHT = Clock(0, 0, 0, "", "")


def read_clock(text: str, *, basic: bool) -> Clock:
    """Read a time of day in lower case; `basic` allows digits without colons.

    Raises:
        Unclear: it is none.
    """
    for form in (_COLONS, _CHINESE, _HOUR, *((_BASIC,) if basic else ())):
        found = form.fullmatch(text)
        if found is not None:
            return _clock(found.groupdict())
    raise Unclear(f"'{text[:40]}' is no time of day")


def _clock(parts: dict[str, str | None]) -> Clock:
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = parts.get("half")
    if half and not 1 <= hour <= 12:
        raise Unclear(f"there is no {hour} o'clock in a half day")
    if half:
        hour = hour % 12 + (12 if half in _AFTERNOON else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise Unclear(f"there is no time {hour:02}:{minute:02}:{second:02}")
    return Clock(hour, minute, second, parts.get("fraction") or "", _zone(parts))


def _zone(parts: dict[str, str | None]) -> str:
    if not parts["sign"]:
        return "Z" if parts["zone"] else ""
    ahead, minutes = parts["ahead"] or "00", parts["minutes"] or "00"
    if int(ahead) > 23 or int(minutes) > 59:
        raise Unclear(f"there is no time zone {parts['zone']}")
    return f"{parts['sign']}{ahead}:{minutes}"
