"""What the scripted analyst reads in a request: the user's words, the date line, its instructions, and tool results."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from typing import Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

_SENT = re.compile(
    r"\[Sent (?P<name>\w+) (?P<when>\d{4}-\d\d-\d\d \d\d:\d\d), (?P<zone>.+?) \(UTC(?P<offset>[+-]\d\d:\d\d)\)\]"
)
_SERVICES = re.compile(r"^Services: (?P<names>.+)$", re.MULTILINE)
_NOTES = re.compile(r"^Notes of the people on call: the log of `(?P<name>[^`]+)`", re.MULTILINE)
_TODAY = ("today", "今天", "今日")


class Day(msgspec.Struct, frozen=True, gc=False):
    """The day that a message means: its midnights, and the date line that it was worked out from."""

    sent: str
    start: datetime
    end: datetime


class Brief(msgspec.Struct, frozen=True, gc=False):
    """What the instructions say there is to look at."""

    services: tuple[str, ...]
    notes: str


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A tool call with the text that came back."""

    name: str
    arguments: dict[str, Any]
    text: str

    @property
    def page(self) -> dict[str, Any] | None:
        """The page that came back, None where it is none."""
        try:
            value: Any = json.loads(self.text)
        except ValueError:
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) and "items" in value else None


def read_day(messages: list[dict[str, Any]]) -> Day | None:
    """Work out which day the newest user message means; None where it does not say when it was sent."""
    text = next((_text(each) for each in reversed(messages) if each.get("role") == "user"), "")
    found = _SENT.search(text)
    if found is None:
        return None
    zone = _zone(found["zone"], found["offset"])
    sent = datetime.strptime(found["when"], "%Y-%m-%d %H:%M").replace(tzinfo=zone)
    back = 0 if any(word in text.lower() for word in _TODAY) else 1
    day = sent.date() - timedelta(days=back)
    return Day(found[0], *(datetime.combine(each, time(), zone) for each in (day, day + timedelta(days=1))))


def _zone(name: str, offset: str) -> tzinfo:
    """The zone by its name, so that the day may be one on which clocks change; else the offset that is given."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        hours, minutes = int(offset[1:3]), int(offset[4:6])
        ahead = timedelta(hours=hours, minutes=minutes)
        return timezone(ahead if offset[0] == "+" else -ahead) if ahead else UTC


def read_brief(messages: list[dict[str, Any]]) -> Brief:
    """Read in the instructions which services there are, and where people on call write."""
    text = "\n".join(_text(each) for each in messages if each.get("role") in ("system", "developer"))
    services, notes = _SERVICES.search(text), _NOTES.search(text)
    return Brief(tuple(services["names"].split(", ")) if services else (), notes["name"] if notes else "")


def read_answers(messages: list[dict[str, Any]]) -> Iterator[Answered]:
    """Yield the calls since the newest user message that have an answer, in the order of the answers."""
    newest = max((n for n, each in enumerate(messages) if each.get("role") == "user"), default=-1)
    calls: dict[str, dict[str, Any]] = {}
    for message in messages[newest + 1 :]:
        calls |= {call["id"]: call["function"] for call in message.get("tool_calls") or ()}
        call = calls.get(message.get("tool_call_id", ""))
        if message.get("role") == "tool" and call is not None:
            yield Answered(call["name"], json.loads(call["arguments"]), _text(message))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
    return content or ""
