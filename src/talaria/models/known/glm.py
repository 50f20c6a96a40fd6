"""GLM, as z.ai and bigmodel.cn take it.

Sources: https://docs.z.ai/guides/capabilities/thinking-mode, https://docs.bigmodel.cn/cn/guide/start/pricing, read
2026-11-30; https://java.agentscope.io/v2/en/integration/model/glm for `tool_choice`, which is "auto" only.

Reasoning goes back within a loop of tools. Usage comes unasked. GLM-5.3 always thinks.
"""

from talaria.models.family import Family
from talaria.ports.profile import Price

_TOLD = {
    "thinking_on": '{"thinking":{"type":"enabled"}}',
    "thinking_off": '{"thinking":{"type":"disabled"}}',
    "reasoning_back": "with_tools",
    "empty_content": "empty",
    "usage_option": False,
}
_SWITCH = {"openai": _TOLD}
_EFFORT = {
    "openai": {
        **_TOLD,
        "thinking_on": '{"thinking":{"type":"enabled"},"reasoning_effort":"$effort:max"}',
        "thinking_off": '{"reasoning_effort":"low"}',
        "schemas": "plain",
    }
}
_ASKED = {"forced_choice": "never", "max_output": 131_072}
_5_3 = {**_ASKED, "window": 1_000_000, "reasoning": "always"}
_OPEN = {**_ASKED, "reasoning": "by_default", "json_schema": False}
_TEXT = {"vision": False}

FAMILIES = (
    Family("glm-5.3-flash", {**_5_3, "price": Price(0.15, 0.5, 0.03)}, _EFFORT),
    Family("glm-5.3", {**_5_3, **_TEXT, "price": Price(1.4, 4.4, 0.26)}, _EFFORT),
    Family("glm-5.2", {**_OPEN, **_TEXT, "window": 1_000_000, "price": Price(1.4, 4.4, 0.26)}, _SWITCH),
    Family("glm-5.1", {**_OPEN, **_TEXT, "window": 200_000, "price": Price(1.4, 4.4, 0.26)}, _SWITCH),
    Family("glm-5v", {**_OPEN, "window": 200_000, "price": Price(1.2, 4, 0.24)}, _SWITCH),
    Family("glm-5", {**_OPEN, **_TEXT, "window": 200_000, "price": Price(1, 3.2, 0.2)}, _SWITCH),
    Family("glm-4.7-flash", {**_OPEN, **_TEXT, "window": 200_000, "price": Price(0, 0)}, _SWITCH),
    Family("glm-4.7", {**_OPEN, **_TEXT, "window": 200_000, "price": Price(0.6, 2.2, 0.11)}, _SWITCH),
    Family("glm-4.6v", {**_OPEN, "window": 128_000, "price": Price(0.3, 0.9)}, _SWITCH),
    Family("glm-4.6", {**_OPEN, **_TEXT, "window": 200_000, "price": Price(0.6, 2.2, 0.11)}, _SWITCH),
)
