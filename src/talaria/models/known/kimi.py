"""Kimi, as Moonshot takes it.

Sources: https://platform.moonshot.ai/docs/pricing/chat, https://java.agentscope.io/v2/en/integration/model/kimi, read
2026-11-30; https://github.com/UKGovernmentBEIS/inspect_ai/issues/5152 and https://github.com/can1357/oh-my-pi/issues/1077
for `tool_choice` while thinking; https://github.com/openclaw/openclaw/issues/74846 for reasoning that is missing.

Sampling is fixed. A message with calls must have its reasoning, and an empty one is not taken everywhere.
"""

from talaria.models.family import Family
from talaria.ports.profile import Price

_TOLD = {"max_tokens_field": "max_completion_tokens", "reasoning_back": "with_tools", "reasoning_fill": " "}
_SWITCH = {
    "openai": {
        **_TOLD,
        "thinking_on": '{"thinking":{"type":"enabled"}}',
        "thinking_off": '{"thinking":{"type":"disabled"}}',
    }
}
_ALWAYS = {"openai": {**_TOLD, "thinking_on": '{"thinking":{"type":"enabled"}}', "thinking_off": ""}}
_EFFORT = {
    "openai": {
        **_TOLD,
        "thinking_on": '{"reasoning_effort":"$effort:max"}',
        "thinking_off": '{"reasoning_effort":"low"}',
    }
}
_K3 = {"window": 1_048_576, "max_output": 1_048_576, "reasoning": "always", "sampling": "never"}
_K2 = {"window": 262_144, "max_output": 262_144, "sampling": "never"}

FAMILIES = (
    Family("kimi-k3.1-pro-highspeed", {**_K3, "price": Price(4, 20, 0.2, 4)}, _EFFORT),
    Family("kimi-k3.1-pro", {**_K3, "price": Price(2, 10, 0.2, 2)}, _EFFORT),
    Family("kimi-k3", {**_K3, "price": Price(3, 15, 0.3, 3)}, _EFFORT),
    Family(
        "kimi-k2.7-code",
        {**_K2, "reasoning": "always", "forced_choice": "never", "price": Price(0.95, 4, 0.19)},
        _ALWAYS,
    ),
    Family(
        "kimi-k2.6",
        {**_K2, "reasoning": "by_default", "forced_choice": "without_thinking", "price": Price(0.95, 4, 0.16)},
        _SWITCH,
    ),
)
