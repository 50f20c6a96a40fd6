"""Tokens and money: what a provider reports, what is estimated when it does not, what it costs."""

from collections.abc import Mapping
from typing import Any

import msgspec

from talaria.core.usage import Usage
from talaria.models.loose_json import as_object
from talaria.ports.profile import Price

CHARACTERS_PER_TOKEN = 4


def _count(values: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = values.get(name)
        if value and isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15:
            return int(value)
    return 0


def read_usage(value: Any, before: Usage) -> Usage:
    """Return the usage so far, taking in a usage object as OpenAI-compatible servers write it.

    Reports are cumulative; a server may spread them over several chunks or repeat them, so the largest number counts.
    """
    report = as_object(value)
    if not report:
        return before
    details = as_object(report.get("prompt_tokens_details")) or as_object(report.get("input_tokens_details"))
    cached = _count(details, "cached_tokens") or _count(report, "prompt_cache_hit_tokens", "cached_tokens")
    spent = as_object(report.get("completion_tokens_details")) or as_object(report.get("output_tokens_details"))
    asked = _count(report, "prompt_tokens", "input_tokens")
    said = _count(report, "completion_tokens", "output_tokens")
    thought = _count(spent, "reasoning_tokens")
    beside = _count(report, "total_tokens") - asked - said
    if beside > 0 and thought in {0, beside}:  # Gemini and Grok count thoughts in the total only
        said, thought = said + beside, beside
    return Usage(
        max(before.input_tokens, asked),
        max(before.output_tokens, said),
        max(before.cached_tokens, cached),
        max(before.reasoning_tokens, thought),
        cache_write_tokens=max(before.cache_write_tokens, _count(details, "cache_write_tokens")),
    )


def estimate(sent: int, said: int) -> Usage:
    """Return a guess for `sent` and `said` characters, marked as one."""
    return Usage(-(-sent // CHARACTERS_PER_TOKEN), -(-said // CHARACTERS_PER_TOKEN), estimated=True)


def priced(usage: Usage, price: Price | None) -> Usage:
    """Return the usage with its cost; unchanged where no price is known."""
    if price is None:
        return usage
    cached = min(usage.cached_tokens, usage.input_tokens)
    written = min(usage.cache_write_tokens, usage.input_tokens - cached)
    fresh = usage.input_tokens - cached - written
    read_price = price.input if price.cached is None else price.cached
    write_price = price.input if price.cache_write is None else price.cache_write
    input_cost = fresh * price.input + cached * read_price + written * write_price
    return msgspec.structs.replace(usage, cost=(input_cost + usage.output_tokens * price.output) / 1_000_000)
