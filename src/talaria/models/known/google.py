"""Google's Gemini models, as its OpenAI endpoint takes them.

Sources: https://ai.google.dev/gemini-api/docs/openai, https://ai.google.dev/gemini-api/docs/thought-signatures,
https://ai.google.dev/gemini-api/docs/pricing, read 2026-11-30. Prices are those of inputs up to 200k tokens.

The first call of each step carries a signature. A history of another model has none: the documented placeholder stands
there. Thinking cannot be turned off since Gemini 3, only made small.
"""

from talaria.models.family import Family
from talaria.ports.profile import Price

_SIZE = {"window": 1_048_576, "max_output": 65_536}
_THINKS = {"reasoning": "always"}
_OWN_SAMPLING = {"reasoning": "always", "sampling": "never"}
_TOLD = {"schemas": "plain", "empty_content": "omit"}
_SIGNED = {
    **_TOLD,
    "unsigned_call": '{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}',
    "thinking_on": '{"extra_body":{"google":{"thinking_config":{"thinking_level":"$effort","include_thoughts":true}}}}',
}
_LOW = {"openai": {**_SIGNED, "thinking_off": '{"reasoning_effort":"low"}'}}
_MINIMAL = {"openai": {**_SIGNED, "thinking_off": '{"reasoning_effort":"minimal"}'}}
_BUDGET = {
    **_TOLD,
    "thinking_on": '{"extra_body":{"google":{"thinking_config":'
    '{"thinking_budget":"$budget","include_thoughts":true}}}}',
}
_2_5 = {**_SIZE, "json_schema": False}
"""Beside tools it takes no schema for its answer."""

FAMILIES = (
    Family("gemini-4-carbon", {"window": 1_048_576, **_THINKS, "price": Price(4, 20)}, _LOW),
    Family("gemini-4-argon", {"window": 1_048_576, **_THINKS, "price": Price(4, 20, 0.2)}, _LOW),
    Family("gemini-4-hydrogen", {"window": 1_048_576, **_THINKS, "price": Price(1.5, 7.5, 0.075)}, _LOW),
    Family("gemini-3.8-flash", {**_SIZE, **_OWN_SAMPLING, "price": Price(0.75, 3.75, 0.075)}, _LOW),
    Family("gemini-3.7-flash", {**_SIZE, **_OWN_SAMPLING, "price": Price(0.75, 3.75, 0.075)}, _LOW),
    Family("gemini-3.6-flash", {**_SIZE, **_OWN_SAMPLING, "price": Price(0.75, 3.75, 0.075)}, _MINIMAL),
    Family("gemini-3.5-flash-lite", {**_SIZE, **_OWN_SAMPLING, "price": Price(0.3, 2.5, 0.03)}, _MINIMAL),
    Family("gemini-3.5-flash", {**_SIZE, **_THINKS, "price": Price(1.5, 9, 0.15)}, _MINIMAL),
    Family("gemini-3.1-pro", {**_SIZE, **_THINKS, "price": Price(2, 12, 0.2)}, _LOW),
    Family("gemini-3.1-flash-lite", {**_SIZE, **_THINKS, "price": Price(0.25, 1.5, 0.025)}, _MINIMAL),
    Family("gemini-3-flash", {**_SIZE, **_THINKS, "price": Price(0.5, 3, 0.05)}, _MINIMAL),
    Family(
        "gemini-2.5-pro",
        {**_2_5, **_THINKS, "price": Price(1.25, 10, 0.125)},
        {"openai": {**_BUDGET, "thinking_off": '{"reasoning_effort":"low"}'}},
    ),
    Family(
        "gemini-2.5-flash-lite",
        {**_2_5, "reasoning": "optional", "price": Price(0.1, 0.4, 0.01)},
        {"openai": _BUDGET},
    ),
    Family(
        "gemini-2.5-flash", {**_2_5, "reasoning": "by_default", "price": Price(0.3, 2.5, 0.03)}, {"openai": _BUDGET}
    ),
    Family("gemini-", {"window": 1_048_576, **_OWN_SAMPLING}, _LOW),
)
