"""What is fixed of a turn when it starts: its limits, and what its request asks of model calls and of the answer."""

from typing import Any, Literal

import msgspec


class RunLimits(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What this run may take, fixed when it starts. Times in seconds."""

    max_calls: int = 150
    max_calls_per_tool: int = 40
    max_rounds: int = 25
    run_timeout: float = 600.0
    tool_timeout: float = 60.0
    approval_timeout: float = 300.0
    result_limit: int = 20_000
    output_repairs: int = 2


class TurnOptions(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the request asks of the model calls of this turn."""

    thinking: Literal["enabled", "disabled"] | None = None
    temperature: float | None = None
    max_tokens: int | None = None


class OutputSpec(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the final answer of this turn must be: JSON that validates against `schema`.

    `tool` names the tool that takes the answer; empty: the model itself keeps to the schema, in its text.
    """

    schema: dict[str, Any]
    tool: str = ""
