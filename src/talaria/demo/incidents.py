"""Plays one incident: its alerts, the errors in the logs, and what the people on call wrote."""

from random import Random

import msgspec

from talaria.demo.records import Alert, LogLine, Span
from talaria.demo.scenarios import NOTES, Scenario, Symptom


class Played(msgspec.Struct, frozen=True, gc=False):
    """What an incident left behind, ids not given yet."""

    alerts: tuple[Alert, ...]
    lines: tuple[LogLine, ...]


def play(rng: Random, scenario: Scenario, name: str, span: Span) -> Played:
    """Let an incident happen within `span`: it begins with the first alert and ends when the last one is over."""
    first, *_ = scenario.symptoms
    later = [symptom for symptom in scenario.symptoms for _ in range(rng.randint(2, 4))]
    moments = sorted(rng.sample(range(20, span.seconds * 2 // 3), len(later)))
    alerts = [_alert(first, name, Span(span.start, span.at(span.seconds - 30)))]
    alerts += [
        _alert(symptom, name, Span(span.at(moment), span.at(moment + rng.randint(60, span.seconds // 4))))
        for symptom, moment in zip(later, moments, strict=True)
    ]
    closing = _alert(first, name, Span(span.at(span.seconds * 3 // 4), span.end))
    return Played((*alerts, closing), (*_errors(rng, scenario, span), *_notes(rng, scenario, name, span)))


def _alert(symptom: Symptom, name: str, span: Span) -> Alert:
    return Alert(
        id="",
        starts_at=span.start,
        ends_at=span.end,
        service=symptom.service,
        severity=symptom.severity,
        title=symptom.title,
        fingerprint=f"{symptom.service}/{symptom.title}",
        incident=name,
    )


def _errors(rng: Random, scenario: Scenario, span: Span) -> list[LogLine]:
    return [
        LogLine("", span.at(rng.randrange(span.seconds * 1000) / 1000), service, "ERROR", fill(rng, message))
        for service, message in scenario.errors
        for _ in range(rng.randint(15, 55))
    ]


def _notes(rng: Random, scenario: Scenario, name: str, span: Span) -> list[LogLine]:
    """A first guess while it lasts, which is wrong, and the cause once it is confirmed."""
    guessed, confirmed = span.at(span.seconds // 3), span.at(span.seconds + rng.randint(600, 2400))
    return [
        LogLine("", guessed, NOTES, "INFO", f"{name} 初步怀疑 (first guess): {scenario.guess}, 排查中"),
        LogLine("", confirmed, NOTES, "INFO", f"RCA {name}: {scenario.cause}"),
    ]


def fill(rng: Random, template: str) -> str:
    """Put a number where the template wants one."""
    return template.replace("{n}", str(rng.randint(2, 900)))
