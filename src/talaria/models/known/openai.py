"""OpenAI's models.

Sources: https://developers.openai.com/api/docs/models, https://developers.openai.com/api/docs/guides/latest-model and
https://developers.openai.com/api/docs/pricing, read 2026-11-30. Prices are those of inputs up to 272k tokens.

Over chat completions the models since gpt-5.4 call tools only while they do not think, so those that always think have
no tools there; the dialect `responses` has no such limit (https://community.openai.com/t/1386454).
"""

from collections.abc import Mapping
from typing import Any

from talaria.models.family import Family
from talaria.ports.profile import Price

Told = Mapping[str, Mapping[str, Any]]
_LARGE = {"window": 1_050_000, "max_output": 128_000}
_SMALL = {"window": 400_000, "max_output": 128_000}
_CHAT = {"max_tokens_field": "max_completion_tokens", "system_role": "developer"}

_NEVER = {"reasoning": "never"}
_OPTIONAL = {"reasoning": "optional", "sampling": "without_thinking"}
_BY_DEFAULT = {"reasoning": "by_default", "sampling": "without_thinking"}
_ALWAYS = {"reasoning": "always", "sampling": "never"}

_TOOLS: Told = {"openai": _CHAT}
_TOOLS_UNTHINKING: Told = {"openai": {**_CHAT, "thinking_with_tools": False}}


def _least(effort: str, **chat: Any) -> Told:
    """Told to a model that always thinks: the effort that comes closest to none."""
    return {
        "openai": {**_CHAT, **chat, "thinking_off": f'{{"reasoning_effort":"{effort}"}}'},
        "responses": {"thinking_off": f'{{"reasoning":{{"effort":"{effort}"}}}}'},
    }


_NO_TOOLS = _least("low", tools=False)
_PRO = _least("medium", tools=False)
_MINIMAL = _least("minimal")

FAMILIES = (
    Family("gpt-6.2-astra", _LARGE | _ALWAYS | {"price": Price(8, 40)}, _NO_TOOLS),
    Family("gpt-6.2-sol", _LARGE | _ALWAYS | {"price": Price(2, 10, 0.1, 2.5)}, _NO_TOOLS),
    Family("gpt-6.1-sol", _LARGE | _ALWAYS | {"price": Price(2, 10, 0.1, 2.5)}, _NO_TOOLS),
    Family("gpt-6.1-terra", _LARGE | _BY_DEFAULT | {"price": Price(1, 5, 0.05, 1.25)}, _TOOLS_UNTHINKING),
    Family("gpt-6-astra", _LARGE | _ALWAYS | {"price": Price(10, 50, 1, 12.5)}, _NO_TOOLS),
    Family("gpt-6-sol", _LARGE | _BY_DEFAULT | {"price": Price(2, 10, 0.2, 2.5)}, _TOOLS_UNTHINKING),
    Family("gpt-6-luna", _LARGE | _BY_DEFAULT | {"price": Price(0.1, 0.5, 0.01, 0.125)}, _TOOLS_UNTHINKING),
    Family("gpt-5.6-luna", _LARGE | _BY_DEFAULT | {"price": Price(0.2, 1.2, 0.02, 0.25)}, _TOOLS_UNTHINKING),
    Family("gpt-5.6-terra", _LARGE | _BY_DEFAULT | {"price": Price(2, 12, 0.2, 2.5)}, _TOOLS_UNTHINKING),
    Family("gpt-5.6", _LARGE | _BY_DEFAULT | {"price": Price(4, 20, 0.4, 5)}, _TOOLS_UNTHINKING),
    Family("gpt-5.5-pro", _LARGE | _ALWAYS | {"json_schema": False, "price": Price(30, 180)}, _PRO),
    Family("gpt-5.5", _LARGE | _BY_DEFAULT | {"price": Price(5, 30, 0.5)}, _TOOLS_UNTHINKING),
    Family("gpt-5.4-pro", _LARGE | _ALWAYS | {"json_schema": False, "price": Price(30, 180)}, _PRO),
    Family("gpt-5.4-mini", _SMALL | _OPTIONAL | {"price": Price(0.75, 4.5, 0.075)}, _TOOLS_UNTHINKING),
    Family("gpt-5.4-nano", _SMALL | _OPTIONAL | {"price": Price(0.2, 1.25, 0.02)}, _TOOLS_UNTHINKING),
    Family("gpt-5.4", _LARGE | _OPTIONAL | {"price": Price(2.5, 15, 0.25)}, _TOOLS_UNTHINKING),
    Family("gpt-5.2", _SMALL | _OPTIONAL | {"price": Price(1.75, 14, 0.175)}, _TOOLS),
    Family("gpt-5.1", _SMALL | _OPTIONAL | {"price": Price(1.25, 10, 0.125)}, _TOOLS),
    Family("gpt-5-mini", _SMALL | _ALWAYS | {"price": Price(0.25, 2, 0.025)}, _MINIMAL),
    Family("gpt-5-nano", _SMALL | _ALWAYS | {"price": Price(0.05, 0.4, 0.005)}, _MINIMAL),
    Family("gpt-5", _SMALL | _ALWAYS | {"price": Price(1.25, 10, 0.125)}, _MINIMAL),
    Family("gpt-4.1-mini", _NEVER | {"window": 1_047_576, "max_output": 32_768, "price": Price(0.4, 1.6, 0.1)}),
    Family("gpt-4.1", _NEVER | {"window": 1_047_576, "max_output": 32_768, "price": Price(2, 8, 0.5)}),
    Family("gpt-4o-mini", _NEVER | {"window": 128_000, "max_output": 16_384, "price": Price(0.15, 0.6, 0.075)}),
    Family("gpt-4o", _NEVER | {"window": 128_000, "max_output": 16_384, "price": Price(2.5, 10, 1.25)}),
)
