"""What the scripted analyst makes of the tool results: records counted once, incidents, causes, errors."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from talaria.testing.ops_report.conversation import Answered

_RCA = re.compile(r"RCA (?P<id>\S+): (?P<cause>.+)")
_FLAPS = 5


class IncidentFound(msgspec.Struct, frozen=True, gc=False):
    """An incident as the records show it."""

    id: str
    service: str
    start: datetime
    end: datetime
    alerts: int
    cause: str


class Findings(msgspec.Struct, frozen=True, gc=False):
    """Everything that goes into a report. `repeated`: deliveries of records that had come before."""

    alerts: int
    repeated: int
    severities: Counter[str]
    services: Counter[str]
    incidents: tuple[IncidentFound, ...]
    flapping: Counter[str]
    errors: dict[str, int]
    unread: tuple[str, ...]


def find(answers: Iterable[Answered], services: Iterable[str]) -> Findings:
    """Count what the answers hold."""
    seen = list(answers)
    alerts, repeated_alerts = _once(seen, "query_alerts")
    lines, repeated_lines = _once(seen, "query_logs")
    errors = Counter(line["service"] for line in lines if line["level"] == "ERROR")
    notes = (found for line in lines if (found := _RCA.match(line["message"])))
    causes = {found["id"]: found["cause"] for found in notes}
    loose = Counter(alert["fingerprint"] for alert in alerts if not alert.get("incident"))
    return Findings(
        alerts=len(alerts),
        repeated=repeated_alerts + repeated_lines,
        severities=Counter(alert["severity"] for alert in alerts),
        services=Counter(alert["service"] for alert in alerts),
        incidents=tuple(_incidents(alerts, causes)),
        flapping=Counter({name: times for name, times in loose.items() if times >= _FLAPS}),
        errors={service: errors[service] for service in services},
        unread=tuple(f"{each.name}: {each.text[:200]}" for each in seen if each.page is None),
    )


def _once(answers: list[Answered], tool: str) -> tuple[list[dict[str, Any]], int]:
    """All records of a tool's pages by id, and how many came again."""
    items = [item for each in answers if each.name == tool and each.page for item in each.page["items"]]
    records = {item["id"]: item for item in items}
    return list(records.values()), len(items) - len(records)


def _incidents(alerts: list[dict[str, Any]], causes: dict[str, str]) -> Iterable[IncidentFound]:
    for name in sorted({alert["incident"] for alert in alerts if alert.get("incident")}):
        mine = sorted(
            (each for each in alerts if each.get("incident") == name), key=lambda each: _moment(each["startsAt"])
        )
        yield IncidentFound(
            id=name,
            service=mine[0]["service"],
            start=_moment(mine[0]["startsAt"]),
            end=max(_moment(alert["endsAt"]) for alert in mine),
            alerts=len(mine),
            cause=causes.get(name, "not known yet"),
        )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
