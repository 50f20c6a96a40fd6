"""DeepSeek's models, and what its own servers want told.

Sources: https://api-docs.deepseek.com/quick_start/pricing, https://api-docs.deepseek.com/guides/thinking_mode, read
2026-11-30. Prices are those of peak hours; at other times they are half.

A model thinks unless it is told not to. While it thinks it takes a temperature without heeding it and refuses to be
made to call a tool. A message with calls goes back with its `reasoning_content`, be it empty.
"""

from collections.abc import Mapping
from typing import Any

from talaria.models.family import Family
from talaria.ports.profile import Price

FACTS: Mapping[str, Any] = {
    "reasoning": "by_default",
    "sampling": "without_thinking",
    "forced_choice": "without_thinking",
    "json_schema": False,
}
TOLD: Mapping[str, Any] = {
    "thinking_on": '{"thinking":{"type":"enabled"},"reasoning_effort":"$effort:high"}',
    "thinking_off": '{"thinking":{"type":"disabled"}}',
    "reasoning_back": "with_tools",
    "reasoning_fill": "",
    "empty_content": "empty",
}
_TOLD = {"openai": TOLD, "deepseek": TOLD}
_SIZE = {"window": 1_000_000, "max_output": 393_216}
_FLASH = {**FACTS, **_SIZE, "price": Price(0.3, 1.2, 0.006)}

FAMILIES = (
    Family("deepseek-v4-pro", {**FACTS, **_SIZE, "vision": False, "price": Price(1.32, 3.96, 0.044)}, _TOLD),
    Family("deepseek-v4-flash", _FLASH, _TOLD),
    Family("deepseek-flash", _FLASH, _TOLD),
)
