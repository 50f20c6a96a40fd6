"""Reads the figures out of a report: leniently in form, so that a real model may write them its own way."""

import json
import re
from datetime import date, datetime
from typing import Any, cast

import msgspec

_FENCE = re.compile(r"```(?:json)?\s*\n(?P<body>\{.*?\})\s*\n?```", re.DOTALL)


class ReportedIncident(msgspec.Struct, frozen=True, gc=False):
    """What a report says of an incident."""

    start: datetime | None
    end: datetime | None
    cause: str


class Figures(msgspec.Struct, frozen=True, gc=False):
    """What a report says; what it does not say, or not in a readable way, is empty."""

    day: date | None = None
    alerts: int | None = None
    severities: dict[str, int] = {}
    top: tuple[tuple[str, int], ...] = ()
    incidents: dict[str, ReportedIncident] = {}
    errors: dict[str, int] = {}


def read_figures(report: str) -> Figures:
    """Read the last JSON object of a report; without one all figures are empty."""
    found = _last_object(report)
    return Figures(
        day=_day(found.get("date")),
        alerts=_number(found.get("alerts")),
        severities=_counts(found.get("bySeverity")),
        top=tuple(_counts(found.get("topServices")).items()),
        incidents=dict(_incident(each) for each in _objects(found.get("incidents"))),
        errors=_counts(found.get("errors")),
    )


def _last_object(report: str) -> dict[str, Any]:
    for fence in reversed(list(_FENCE.finditer(report))):
        try:
            return cast("dict[str, Any]", json.loads(fence["body"]))
        except ValueError:
            continue
    return {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", each) for each in _list(value) if isinstance(each, dict)]


def _counts(value: Any) -> dict[str, int]:
    """Counts by name: as an object, as pairs, or as objects of a name and a number."""
    if isinstance(value, dict):
        pairs = list(cast("dict[str, Any]", value).items())
    else:
        pairs = [_pair(each) for each in _list(value)]
    return {str(name): count for name, given in pairs if (count := _number(given)) is not None}


def _pair(value: Any) -> tuple[Any, Any]:
    members = list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else _list(value)
    names = [each for each in members if isinstance(each, str)]
    numbers = [each for each in members if not isinstance(each, str)]
    return (names[0], numbers[0]) if names and numbers else ("", None)


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _incident(value: dict[str, Any]) -> tuple[str, ReportedIncident]:
    told = ReportedIncident(_moment(value.get("start")), _moment(value.get("end")), str(value.get("rootCause", "")))
    return str(value.get("id", "")), told


def _moment(value: Any) -> datetime | None:
    """A time with an offset; without one it says nothing."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
