"""Claude, by Anthropic.

Sources, read 2026-11-30: https://platform.claude.com/docs/en/about-claude/models/overview and each model's "what's new"
and migration pages (https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5) for windows, prices and
what is taken; https://platform.claude.com/docs/en/build-with-claude/thinking for kinds of thinking, and
https://platform.claude.com/docs/en/api/versioning for versions of the API.

Some of the models that think by default take a forced choice and then do not think. The documents do not agree on
which, so a choice is only forced with thinking off.
"""

import re
from typing import Any

import msgspec

from talaria.models.family import Family
from talaria.ports.profile import Price

ADAPTIVE = '{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"$effort:high"}}'
BUDGET = '{"thinking":{"type":"enabled","budget_tokens":"$budget"}}'
BETWEEN_TOOLS = '{"thinking":{"type":"between_tools"}}'
DISABLED = '{"thinking":{"type":"disabled"}}'
LITTLE = '{"output_config":{"effort":"low"}}'
_VERSION = re.compile(r"(?<=\d)-(?=\d)")
INTERLEAVED = "interleaved-thinking-2025-05-14"

TOLD: dict[str, Any] = {"empty_content": "omit", "reasoning_back": "always", "api_version": "2023-06-01"}
_NEW: dict[str, Any] = {"api_version": "2026-10-21", "thinking_on": ADAPTIVE}
_MEDIUM: dict[str, Any] = {**_NEW, "thinking_on": ADAPTIVE.replace("high", "medium")}
_ALWAYS: dict[str, Any] = {**_NEW, "thinking_off": LITTLE}
_MEDIUM_ALWAYS: dict[str, Any] = {**_MEDIUM, "thinking_off": LITTLE}
_BETWEEN: dict[str, Any] = {**_NEW, "thinking_off": BETWEEN_TOOLS}
_4_6: dict[str, Any] = {"thinking_on": ADAPTIVE}
_4: dict[str, Any] = {"betas": INTERLEAVED}
_3: dict[str, Any] = {}

_BIG: dict[str, Any] = {"window": 1_000_000, "max_output": 128_000, "empty_content": "omit"}
_THINKER: dict[str, Any] = {**_BIG, "reasoning": "always", "sampling": "never", "forced_choice": "never"}
_OPTIONAL: dict[str, Any] = {**_BIG, "sampling": "never", "forced_choice": "without_thinking"}
_DEFAULT: dict[str, Any] = {**_OPTIONAL, "reasoning": "by_default"}
_UNFORCED: dict[str, Any] = {**_DEFAULT, "forced_choice": "never"}
_FREE: dict[str, Any] = {"sampling": "without_thinking", "forced_choice": "without_thinking", "empty_content": "omit"}
_OLD: dict[str, Any] = {**_FREE, "window": 200_000}
_THOUGHTLESS: dict[str, Any] = {"window": 200_000, "reasoning": "never", "empty_content": "omit"}


def _row(prefix: str, facts: dict[str, Any], told: dict[str, Any], price: Price | None = None, **more: Any) -> Family:
    return Family(prefix, {**facts, "price": price, **more}, {"anthropic": told})


def _dotted(row: Family) -> Family:
    """The same under the name that other hosts give it: claude-opus-4.8."""
    return msgspec.structs.replace(row, prefix=_VERSION.sub(".", row.prefix))


# Prices: input, output, read from the cache, written to it for five minutes.
_ROWS = (
    _row("claude-fable-5-2", _THINKER, _ALWAYS, Price(8, 40, 0.2, 10)),
    _row("claude-fable-5-1", _THINKER, _ALWAYS, Price(10, 50, 0.25, 12.5)),
    _row("claude-fable-5", _THINKER, _ALWAYS, Price(10, 50, 1, 12.5)),
    _row("claude-mythos-5-2", _THINKER, _ALWAYS, Price(8, 40, 0.2, 10)),
    _row("claude-mythos-5-1", _THINKER, _ALWAYS, Price(10, 50, 0.25, 12.5)),
    _row("claude-mythos-", _THINKER, _ALWAYS, Price(10, 50, 1, 12.5)),
    _row("claude-opus-5-5", _THINKER, _MEDIUM_ALWAYS, Price(4, 20, 0.2, 5)),
    _row("claude-opus-5", _DEFAULT, _NEW, Price(5, 25, 0.5, 6.25)),
    _row("claude-opus-4-8", _OPTIONAL, _NEW, Price(5, 25, 0.5, 6.25)),
    _row("claude-opus-4-7", _OPTIONAL, _NEW, Price(5, 25, 0.5, 6.25)),
    _row("claude-opus-4-6", {**_BIG, **_FREE}, _4_6, Price(5, 25, 0.5, 6.25)),
    _row("claude-sonnet-5-5", _UNFORCED, _BETWEEN, Price(2, 10, 0.1, 2.5)),
    _row("claude-sonnet-5", _DEFAULT, _NEW, Price(2, 10, 0.2, 2.5)),
    _row("claude-sonnet-4-6", {**_BIG, **_FREE}, _4_6, Price(3, 15, 0.3, 3.75)),
    _row("claude-haiku-5-5", _DEFAULT, _MEDIUM, Price(0.1, 0.5, 0.01, 0.125)),  # five times that above 100,000 tokens
    _row("claude-haiku-4-5", _OLD, _4, Price(1, 5, 0.1, 1.25), max_output=64_000),
    _row("claude-opus-4-5", _OLD, _4, Price(5, 25, 0.5, 6.25), max_output=64_000),
    _row("claude-sonnet-4-5", _OLD, _4, Price(3, 15, 0.3, 3.75), max_output=64_000),
    _row("claude-opus-4-1", _OLD, _4, Price(15, 75, 1.5, 18.75), max_output=32_000),
    _row("claude-opus-4", _OLD, _4, Price(15, 75, 1.5, 18.75), max_output=32_000, json_schema=False),
    _row("claude-sonnet-4", _OLD, _4, Price(3, 15, 0.3, 3.75), max_output=64_000, json_schema=False),
    _row("claude-3-7-sonnet", _OLD, _3, Price(3, 15, 0.3, 3.75), max_output=64_000, json_schema=False),
    _row("claude-3-5-", _THOUGHTLESS, _3, Price(3, 15, 0.3, 3.75), max_output=8_192, json_schema=False),
    _row("claude-", _THINKER, _ALWAYS, max_output=64_000),  # one that nobody knows yet is as the newest
)

FAMILIES: tuple[Family, ...] = (*_ROWS, *(_dotted(row) for row in _ROWS if _VERSION.search(row.prefix)))
