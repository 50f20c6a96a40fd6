"""Writes the report of the scripted analyst, in the shape that its instructions ask for."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo

from talaria.testing.ops_report.conversation import Day
from talaria.testing.ops_report.findings import Findings, IncidentFound

_SEVERITIES = ("critical", "warning", "info")


def write_report(day: Day, found: Findings) -> str:
    """Return the report as Markdown."""
    sections = (
        f"# Operations report {day.start:%Y-%m-%d}",
        _summary(day, found),
        "## Alerts",
        _table(("severity", "alerts"), [(each, found.severities[each]) for each in _SEVERITIES]),
        _flapping(found),
        "## Top services",
        _table(("service", "alerts"), found.services.most_common(3)),
        "## Incidents",
        *(_incident(each, day.start.tzinfo) for each in found.incidents),
        "## Errors in the logs",
        _table(("service", "errors"), sorted(found.errors.items(), key=lambda each: -each[1])),
        *(f"I could not read an answer. {each}" for each in found.unread),
        "## Figures",
        f"```json\n{_figures(day, found)}\n```",
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _summary(day: Day, found: Findings) -> str:
    longest = max(found.incidents, key=lambda each: each.end - each.start, default=None)
    worst = f" The longest was {longest.id} in {longest.service}, {_minutes(longest)} min." if longest else ""
    return (
        f"From {day.start.isoformat()} up to {day.end.isoformat()} there were **{found.alerts} alerts**, "
        f"{found.severities['critical']} of them critical, and **{len(found.incidents)} incidents**.{worst} "
        f"The services logged {sum(found.errors.values())} errors. "
        f"{found.repeated} records were delivered more than once and are counted once."
    )


def _flapping(found: Findings) -> str:
    return "\n".join(f"- Flapping, no incident: {name} ({times} times)" for name, times in found.flapping.most_common())


def _incident(found: IncidentFound, zone: tzinfo | None) -> str:
    return (
        f"### {found.id}: {found.service}\n\n"
        f"{_local(found.start, zone)} to {_local(found.end, zone)} ({_minutes(found)} min), {found.alerts} alerts.\n"
        f"Root cause: {found.cause}"
    )


def _minutes(found: IncidentFound) -> int:
    return round((found.end - found.start).total_seconds() / 60)


def _local(moment: datetime, zone: tzinfo | None) -> str:
    return moment.astimezone(zone).isoformat()


def _table(heads: tuple[str, str], rows: Iterable[tuple[str, int]]) -> str:
    lines = (f"| {' | '.join(heads)} |", "| --- | ---: |", *(f"| {name} | {count} |" for name, count in rows))
    return "\n".join(lines)


def _figures(day: Day, found: Findings) -> str:
    """One line a member, and one an incident, so that it reads well."""
    incidents = ",\n    ".join(_json(_figures_of(each, day.start.tzinfo)) for each in found.incidents)
    members: Mapping[str, str] = {
        "date": _json(f"{day.start:%Y-%m-%d}"),
        "alerts": _json(found.alerts),
        "bySeverity": _json({each: found.severities[each] for each in _SEVERITIES}),
        "topServices": _json(found.services.most_common(3)),
        "incidents": f"[\n    {incidents}\n  ]",
        "errors": _json(found.errors),
    }
    return "{\n" + ",\n".join(f"  {_json(name)}: {value}" for name, value in members.items()) + "\n}"


def _figures_of(each: IncidentFound, zone: tzinfo | None) -> dict[str, str]:
    return {"id": each.id, "start": _local(each.start, zone), "end": _local(each.end, zone), "rootCause": each.cause}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
