"""The options of a tool, as `@tool` and `Tool` take them; `Tool` says what each means."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

Approval = bool | Callable[[dict[str, Any]], bool]


class ToolOptions(TypedDict, total=False):
    """The options that every tool has, however it is made."""

    group: str
    permission: str
    approval: Approval
    idempotent: bool
    side_effects: bool
    outside: bool | None
    untrusted: bool
    parallel: bool | None
    timeout: float | None
    retries: int
    breaker: bool | str
    unknown_outcome: Literal["tell", "ask"]
    isolate: Literal["process"] | None
    result_limit: int | None
    aliases: Mapping[str, Mapping[str, Any]] | None


class FunctionOptions(ToolOptions, total=False):
    """The options of `@tool`: `name` and `description` go before the function's own."""

    name: str
    description: str
