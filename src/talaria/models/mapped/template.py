"""The request of a private protocol: a JSON object with placeholders, filled in for every call."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, cast

PLACEHOLDERS: Final = (
    "$model",
    "$messages",
    "$prompt",
    "$query",
    "$system",
    "$tools",
    "$user",
    "$assistant",
    "$thinking",
    "$temperature",
    "$maxTokens",
)
DEFAULT: dict[str, Any] = {
    "model": "$model",
    "messages": "$messages",
    "tools": "$tools",
    "userId": "$user",
    "assistantId": "$assistant",
    "thinking": "$thinking",
    "temperature": "$temperature",
    "maxTokens": "$maxTokens",
}
"""The request of a protocol that does not say how it is asked."""


def filled(value: Any, values: Mapping[str, Any]) -> Any:
    """Return the template with every placeholder replaced; what has no value is left out, with its key."""
    if isinstance(value, str):
        return values[value] if value in PLACEHOLDERS else value
    if isinstance(value, list):
        return [filled(each, values) for each in cast("list[Any]", value) if not _is_absent(each, values)]
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return {key: filled(each, values) for key, each in pairs if not _is_absent(each, values)}
    return value


def _is_absent(value: Any, values: Mapping[str, Any]) -> bool:
    return isinstance(value, str) and value in PLACEHOLDERS and value not in values


def placeholders(value: Any) -> Iterator[str]:
    """Yield every string of a template that stands for something."""
    if isinstance(value, str):
        if value.startswith("$"):
            yield value
    elif isinstance(value, Mapping | list):
        inner = cast("Mapping[str, Any]", value).values() if isinstance(value, Mapping) else cast("list[Any]", value)
        for each in inner:
            yield from placeholders(each)


def unknown_placeholder(template: Mapping[str, Any]) -> str:
    """Say which placeholder of a template there is not; "" where all are known."""
    wrong = next((each for each in placeholders(template) if each not in PLACEHOLDERS), None)
    if wrong is None:
        return ""
    close = get_close_matches(wrong, PLACEHOLDERS, n=1, cutoff=0.5)
    known = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(PLACEHOLDERS)}"
    return f"there is no placeholder '{wrong}'; {known}"
