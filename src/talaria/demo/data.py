"""Makes the days that the demo reports on: from a seed, with the truth known because nothing is counted afterwards."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from random import Random
from typing import TypeVar

import msgspec

from talaria.demo.incidents import play
from talaria.demo.noise import edge_alerts, edge_lines, everyday_lines, flapping, noise
from talaria.demo.records import Alert, LogLine, Span, day_span
from talaria.demo.scenarios import INCIDENTS, NOTES

R = TypeVar("R", Alert, LogLine)


class Incident(msgspec.Struct, frozen=True, gc=False):
    """What is true of an incident; `code` is a word that whoever knows its root cause will say."""

    id: str
    start: datetime
    end: datetime
    code: str


class Truth(msgspec.Struct, frozen=True, gc=False):
    """What a right report of one day says. `services`: alerts of each. `errors`: ERROR lines of each."""

    day: date
    span: Span
    alerts: int
    severities: dict[str, int]
    services: dict[str, int]
    incidents: tuple[Incident, ...]
    errors: dict[str, int]


class World(msgspec.Struct, frozen=True, gc=False):
    """All records of three days, oldest first, some of them delivered twice, and the truth of each day."""

    alerts: tuple[Alert, ...]
    lines: tuple[LogLine, ...]
    truths: dict[date, Truth]


class _Day(msgspec.Struct, frozen=True, gc=False):
    alerts: list[Alert]
    lines: list[LogLine]
    truth: Truth


def make_world(seed: int, today: date, zone: tzinfo) -> World:
    """Make the day before yesterday, yesterday, and today, each the same whatever the others are."""
    days = [_make_day(seed, today - timedelta(days=back), zone) for back in (2, 1, 0)]
    rng = _random(seed, today)
    return World(
        tuple(_delivered(rng, [alert for day in days for alert in day.alerts])),
        tuple(_delivered(rng, [line for day in days for line in day.lines])),
        {day.truth.day: day.truth for day in days},
    )


def _random(seed: int, day: date) -> Random:
    return Random(f"{seed} {day}")  # noqa: S311 - it makes an example, not a secret


def _make_day(seed: int, day: date, zone: tzinfo) -> _Day:
    rng, span = _random(seed, day), day_span(day, zone)
    alerts = [*edge_alerts(span), *flapping(rng, span), *noise(rng, span)]
    lines = [*edge_lines(span), *everyday_lines(rng, span)]
    incidents: list[Incident] = []
    for number, scenario in enumerate(rng.sample(INCIDENTS, 3)):
        name, when = f"INC-{day:%m%d}-{number + 1}", _when(rng, span, number)
        played = play(rng, scenario, name, when)
        alerts += played.alerts
        lines += played.lines
        incidents.append(Incident(name, when.start, when.end, scenario.code))
    alerts, lines = _numbered("al", day, alerts), _numbered("lg", day, lines)
    return _Day(alerts, lines, _truth(day, span, alerts, lines, incidents))


def _when(rng: Random, day: Span, number: int) -> Span:
    """A part of the day of its own for each incident: early, midday, evening."""
    start = day.seconds * (1 + number * 3) // 10 + rng.randint(0, 7200)
    return Span(day.at(start), day.at(start + rng.randint(12 * 60, 55 * 60)))


def _numbered(prefix: str, day: date, records: Sequence[R]) -> list[R]:
    in_order = sorted(records, key=lambda record: record.at)
    return [msgspec.structs.replace(each, id=f"{prefix}-{day:%m%d}-{n:04}") for n, each in enumerate(in_order, 1)]


def _delivered(rng: Random, records: Sequence[R]) -> list[R]:
    """As senders deliver that cannot know whether they did: one in sixteen comes again a little later, same id."""
    arrivals = [(position, record) for position, record in enumerate(records)]
    again = [(position + rng.uniform(0, 9), record) for position, record in arrivals if rng.randrange(16) == 0]
    return [record for _, record in sorted([*arrivals, *again], key=lambda arrival: arrival[0])]


def _truth(day: date, span: Span, alerts: list[Alert], lines: list[LogLine], incidents: list[Incident]) -> Truth:
    return Truth(
        day=day,
        span=span,
        alerts=len(alerts),
        severities=dict(Counter(alert.severity for alert in alerts)),
        services=dict(Counter(alert.service for alert in alerts)),
        incidents=tuple(incidents),
        errors=dict(Counter(line.service for line in lines if line.level == "ERROR" and line.service != NOTES)),
    )
