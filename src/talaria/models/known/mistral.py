"""Mistral's models.

Sources: https://docs.mistral.ai/capabilities/reasoning, https://docs.mistral.ai/capabilities/function_calling,
https://mistral.ai/pricing, read 2026-11-30.

Fields that it does not know are refused, and usage comes unasked. Ids of calls have nine letters or digits. Nobody
speaks right after a tool but the model. Reasoning is a part of the content, and goes back as one.
"""

from talaria.models.family import Family
from talaria.ports.profile import Price

_TOLD = {
    "usage_option": False,
    "call_id_length": 9,
    "user_after_tool": False,
    "empty_content": "empty",
    "reasoning_back": "always",
    "reasoning_field": "content",
    "thinking_on": '{"reasoning_effort":"high"}',
}
_TOLD_OPENAI = {"openai": _TOLD}
_ALWAYS = {"openai": {**_TOLD, "thinking_on": "", "thinking_off": ""}}
_SIZE = {"window": 262_144, "max_output": 262_144}
_NEVER = {"reasoning": "never"}
_TEXT = {"vision": False}

FAMILIES = (
    Family(
        "mistral-large-4", {"window": 1_048_576, "max_output": 1_048_576, "price": Price(0.7, 2.1, 0.07)}, _TOLD_OPENAI
    ),
    Family("mistral-large-", {**_SIZE, **_NEVER, "price": Price(0.5, 1.5, 0.05)}, _TOLD_OPENAI),
    Family("mistral-medium-", {**_SIZE, "price": Price(1.5, 7.5, 0.15)}, _TOLD_OPENAI),
    Family("mistral-small-", {**_SIZE, "price": Price(0.15, 0.6, 0.015)}, _TOLD_OPENAI),
    Family("magistral-medium-", {**_SIZE, "reasoning": "always", "price": Price(1.5, 7.5, 0.15)}, _ALWAYS),
    Family("magistral-small-", {**_SIZE, "reasoning": "always", "price": Price(0.15, 0.6, 0.015)}, _ALWAYS),
    Family("devstral-small-", {**_TEXT, "window": 256_000, "price": Price(0.1, 0.3)}, _TOLD_OPENAI),
    Family("devstral-", {**_TEXT, "window": 256_000, "price": Price(0.4, 2, 0.04)}, _TOLD_OPENAI),
    Family("codestral-", {**_NEVER, **_TEXT, "window": 128_000, "price": Price(0.3, 0.9, 0.03)}, _TOLD_OPENAI),
    Family("ministral-", {**_SIZE, **_NEVER, "price": Price(0.2, 0.2, 0.02)}, _TOLD_OPENAI),
)
