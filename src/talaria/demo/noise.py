"""What a day has besides incidents: flapping checks, noise, everyday log lines, and events on the edges of the day."""

from datetime import datetime, timedelta
from random import Random

from talaria.demo.incidents import fill
from talaria.demo.records import Alert, LogLine, Severity, Span
from talaria.demo.scenarios import CHATTER, FLAPPING, LINES, NOISE, NOTES, SERVICES

_MOMENT = timedelta(milliseconds=1)


def flapping(rng: Random, span: Span) -> list[Alert]:
    """Checks that fire and clear again every few minutes: every time is an alert, and none is an incident."""
    alerts: list[Alert] = []
    for symptom in rng.sample(FLAPPING, 2):
        title, second = fill(rng, symptom.title), rng.randrange(3600, span.seconds // 2)
        for _ in range(rng.randint(7, 12)):
            lasts = rng.randint(20, 90)
            moment = Span(span.at(second), span.at(second + lasts))
            alerts.append(_alert(moment, symptom.service, symptom.severity, title))
            second += lasts + rng.randint(60, 400)
    return alerts


def noise(rng: Random, span: Span) -> list[Alert]:
    """Alerts that nobody needs to act on."""
    return [_noise(rng, span, rng.randrange(120, span.seconds - 900)) for _ in range(rng.randint(55, 75))]


def _noise(rng: Random, span: Span, second: int) -> Alert:
    severity, title = rng.choice(NOISE)
    moment = Span(span.at(second), span.at(second + rng.randint(30, 800)))
    return _alert(moment, rng.choice(SERVICES), severity, fill(rng, title))


def edge_alerts(span: Span) -> list[Alert]:
    """An alert on the first and one in the last moment of the day; the last one is over only on the next day."""
    first = Span(span.start, span.at(40))
    last = Span(span.end - _MOMENT, span.end + timedelta(minutes=7))
    return [
        _alert(first, "order-service", "info", "日切任务开始 (day switch)"),
        _alert(last, "payment-gateway", "warning", "对账文件未到达 (settlement file is late)"),
    ]


def edge_lines(span: Span) -> list[LogLine]:
    """An error on the first and one in the last moment of the day."""
    return [
        LogLine("", span.start, "order-service", "ERROR", "日切: 订单序列重置冲突, retrying"),
        LogLine("", span.end - _MOMENT, "payment-gateway", "ERROR", "settlement file missing: 对账文件未到达"),
    ]


def everyday_lines(rng: Random, span: Span) -> list[LogLine]:
    """What services log on a good day, and what people on call write to each other."""
    lines = [_line(rng, span, service) for service in SERVICES for _ in range(rng.randint(60, 110))]
    return lines + [LogLine("", _within(rng, span), NOTES, "INFO", text) for text in CHATTER]


def _line(rng: Random, span: Span, service: str) -> LogLine:
    level, template = rng.choice(LINES)
    return LogLine("", _within(rng, span), service, level, fill(rng, template))


def _within(rng: Random, span: Span) -> datetime:
    return span.at(rng.randrange(1, span.seconds - 1))


def _alert(span: Span, service: str, severity: Severity, title: str) -> Alert:
    return Alert("", span.start, span.end, service, severity, title, f"{service}/{title}")
