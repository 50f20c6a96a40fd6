"""What the demo's two services hold: alerts and log lines, and the day they belong to."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

import msgspec

Severity = Literal["critical", "warning", "info"]
Level = Literal["DEBUG", "INFO", "WARN", "ERROR"]


class Alert(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """An alert that fired at `starts_at`; `incident` where the on-call tool has put it into one."""

    id: str
    starts_at: datetime
    ends_at: datetime
    service: str
    severity: Severity
    title: str
    fingerprint: str
    incident: str = ""

    @property
    def at(self) -> datetime:
        """When it fired: the moment that decides to which day it belongs."""
        return self.starts_at


class LogLine(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A line of a service's log."""

    id: str
    at: datetime
    service: str
    level: Level
    message: str


class AlertPage(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One page of alerts, oldest first; pages count from 1."""

    page: int
    pages: int
    items: tuple[Alert, ...]


class LogPage(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One page of log lines, oldest first; pages count from 1."""

    page: int
    pages: int
    items: tuple[LogLine, ...]


class Span(msgspec.Struct, frozen=True, gc=False):
    """From `start` up to, and without, `end`; both know their offset."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> int:
        """How long it is: 23 or 25 hours on the days on which clocks are changed."""
        return int((self.end - self.start).total_seconds())

    def at(self, seconds: float) -> datetime:
        """The moment so many seconds after the start."""
        return self.start + timedelta(seconds=seconds)


def day_span(day: date, zone: tzinfo) -> Span:
    """Return a day of a time zone, from midnight to midnight, in UTC."""
    start, end = (datetime.combine(each, time(), zone) for each in (day, day + timedelta(days=1)))
    return Span(start.astimezone(UTC), end.astimezone(UTC))
