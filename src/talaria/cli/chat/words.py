"""How the terminal says things: short texts, durations, sizes, reasons. Nothing in it can steer a terminal."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
REASONS = {
    "length": "the answer was cut off: it reached the model's limit",
    "content_filter": "the provider's filter stopped the answer",
    "toolCallLimitExceeded": "stopped: the turn may make no more tool calls",
    "maxRounds": "stopped: the turn may ask the model no more often",
    "timeout": "stopped: the turn took too long",
    "quotaExceeded": "stopped: the quota is used up",
    "cancelled": "cancelled",
}
"""Why a turn ended, other than by an answer."""


def clean(text: str) -> str:
    """The text without what steers a terminal: control characters, and those that turn the direction of writing."""
    return _STEERING.sub("", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text on one line."""
    return " ".join(clean(text).split())


def duration(seconds: float) -> str:
    """A duration, such as 40 ms, 1.2 s, 3 min 20 s."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def arguments(text: str) -> str:
    """Arguments on one line, as a person would write them."""
    try:
        given = json.loads(text or "{}")
    except ValueError:
        return one_line(text)
    if not isinstance(given, dict):
        return one_line(text)
    values = cast("dict[str, Any]", given)
    return one_line(", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items()))


def pretty(text: str) -> str:
    """Arguments as JSON over several lines; as they are where they are no JSON."""
    try:
        return json.dumps(json.loads(text or "{}"), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def reason(code: str) -> str:
    """Why a turn ended, in words; "" for an ordinary end."""
    return "" if code == "stop" else REASONS.get(code, f"stopped: {code}")


def usage(figures: Mapping[str, Any]) -> str:
    """What a turn used."""
    parts = [f"{figures.get('inputTokens', 0):,} tokens in", f"{figures.get('outputTokens', 0):,} out"]
    if figures.get("cost") is not None:
        parts.append(f"cost {figures['cost']:.4f}")
    return " · ".join(parts) + (" (estimated)" if figures.get("estimated") else "")
