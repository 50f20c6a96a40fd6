"""Qwen, as DashScope takes it: the commercial models. Open weights are told in the way of who serves them.

Sources: https://www.alibabacloud.com/help/en/model-studio/deep-thinking and
https://www.alibabacloud.com/help/en/model-studio/models, read 2026-11-30. Prices are international, of the lowest tier.

While it thinks it refuses to be made to call a tool (https://github.com/agentscope-ai/agentscope/issues/1608).
"""

from talaria.models.family import Family
from talaria.ports.profile import Price

_LARGE = {"window": 991_808, "max_output": 65_536}
_NEWEST = {"window": 991_808, "max_output": 131_072}
_ON = {"reasoning": "by_default", "forced_choice": "without_thinking"}
_OFF = {"reasoning": "optional", "forced_choice": "without_thinking"}
_TEXT = {"vision": False}

_EFFORT = {"openai": {"empty_content": "empty"}}
_SWITCH = {
    "openai": {
        "empty_content": "empty",
        "thinking_on": '{"enable_thinking":true,"thinking_budget":"$budget"}',
        "thinking_off": '{"enable_thinking":false}',
    }
}

FAMILIES = (
    Family("qwen4-max", {**_NEWEST, **_ON, "price": Price(1.5, 4.5, 0.075)}, _EFFORT),
    Family("qwen3.8-max", {**_NEWEST, **_ON, "price": Price(2, 6, 0.25)}, _EFFORT),
    Family("qwen3.8-flash", {**_NEWEST, **_ON, "price": Price(0.15, 0.47, 0.016, 0.2)}, _EFFORT),
    Family("qwen3.7-max", {**_LARGE, **_ON, **_TEXT, "price": Price(2.5, 7.5, 0.5, 3.125)}, _SWITCH),
    Family("qwen3.7-plus", {**_LARGE, **_ON, "price": Price(0.4, 1.6, 0.08)}, _SWITCH),
    Family("qwen3.6-plus", {**_LARGE, **_ON, "price": Price(0.5, 3, 0.05, 0.625)}, _SWITCH),
    Family("qwen3.5-plus", {**_LARGE, **_ON, "price": Price(0.4, 2.4)}, _SWITCH),
    Family("qwen3-max", {**_OFF, **_TEXT, "window": 258_048, "max_output": 65_536, "price": Price(1.2, 6)}, _SWITCH),
    Family("qwen3-coder-plus", {**_LARGE, **_TEXT, "reasoning": "never", "price": Price(1, 5, 0.1)}, _SWITCH),
    Family("qwen3-coder-flash", {**_LARGE, **_TEXT, "reasoning": "never", "price": Price(0.3, 1.5, 0.08)}, _SWITCH),
    Family("qwen-plus", {**_OFF, **_TEXT, "max_output": 32_768, "price": Price(0.4, 1.2)}, _SWITCH),
    Family("qwen-flash", {**_OFF, **_TEXT, "max_output": 32_768, "price": Price(0.05, 0.4)}, _SWITCH),
)
