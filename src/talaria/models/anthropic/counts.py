"""Tokens as the Messages API counts them: in parts, and cumulative within a stream."""

from typing import Any

from talaria.core.usage import Usage
from talaria.models.loose_json import as_object

_NAMES = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class Counts:
    """The newest count of each kind. A later report replaces what it names; nothing and zero say nothing."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = dict.fromkeys((*_NAMES, "thinking_tokens"), 0)

    def take(self, report: Any) -> None:
        """Take in a `usage` object."""
        fields = as_object(report)
        for name in _NAMES:
            self._take(name, fields.get(name))
        self._take("thinking_tokens", as_object(fields.get("output_tokens_details")).get("thinking_tokens"))

    def _take(self, name: str, value: Any) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15:
            self._counts[name] = int(value)

    def usage(self) -> Usage:
        """The whole: what was read from the cache or went into it is part of the input."""
        fresh, read, written, output, thinking = self._counts.values()
        return Usage(fresh + read + written, output, read, thinking, cache_write_tokens=written)
