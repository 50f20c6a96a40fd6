"""Grok, MiniMax, and open weights that many serve.

Sources: https://docs.x.ai/developers/models (prices of inputs below 200k tokens),
https://platform.minimax.io/docs/api-reference, https://java.agentscope.io/v2/en/integration/model/minimax,
https://groq.com/pricing and https://huggingface.co/openai/gpt-oss-120b, read 2026-11-30.
"""

from talaria.models.family import Family
from talaria.ports.profile import Price

_GROK = {"window": 500_000, "reasoning": "always"}
_LITTLE = {"openai": {"thinking_off": '{"reasoning_effort":"low"}'}}
_NO_SWITCH = {"openai": {"thinking_on": "", "thinking_off": ""}}
_MINIMAX = {
    "openai": {
        "max_tokens_field": "max_completion_tokens",
        "thinking_on": '{"thinking":{"type":"adaptive"}}',
        "thinking_off": '{"thinking":{"type":"disabled"}}',
    }
}
_OSS = {
    "window": 131_072,
    "max_output": 65_536,
    "vision": False,
    "reasoning": "always",
    "forced_choice": "never",
}
_OSS_TOLD = {
    "openai": {"schemas": "plain", "empty_content": "empty", "thinking_off": '{"reasoning_effort":"low"}'},
}
_LLAMA = {"reasoning": "never", "window": 131_072}

FAMILIES = (
    Family("grok-4.7", {**_GROK, "price": Price(2, 6, 0.5)}, _LITTLE),
    Family("grok-4.6", {**_GROK, "price": Price(2, 6, 0.5)}, _LITTLE),
    Family("grok-4.5", {**_GROK, "price": Price(2, 6, 0.3)}, _LITTLE),
    Family("grok-4.3", {"window": 1_000_000, "reasoning": "by_default", "price": Price(1.25, 2.5, 0.2)}),
    Family("grok-4.20", {"window": 1_000_000, "reasoning": "always", "price": Price(1.25, 2.5, 0.2)}, _NO_SWITCH),
    Family("grok-build-", {"window": 256_000, "reasoning": "always", "price": Price(1, 2, 0.2)}, _NO_SWITCH),
    Family(
        "minimax-m3.1-flash",
        {"window": 1_000_000, "reasoning": "by_default", "price": Price(0.15, 0.6, 0.015)},
        _MINIMAX,
    ),
    Family(
        "minimax-m3",
        {"window": 1_000_000, "max_output": 128_000, "reasoning": "by_default", "price": Price(0.3, 1.2, 0.06)},
        _MINIMAX,
    ),
    Family("gpt-oss", _OSS, _OSS_TOLD),
    Family("llama-4-", {**_LLAMA, "max_output": 8_192}),
    Family("llama-3.3-", {**_LLAMA, "vision": False, "max_output": 32_768}),
)
