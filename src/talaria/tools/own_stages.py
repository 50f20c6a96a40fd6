"""Stages of one's own, as they are declared: what `@stage` makes of a function, and what the function gets."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from talaria.core.principal import Principal
from talaria.journal.entries import Outcome
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.nearest import hint, listed

PLACES = (
    "known",
    "arguments",
    "permission",
    "limits",
    "quota",
    "approval",
    "client",
    "order",
    "once",
    "trim",
    "mask",
    "breaker",
    "timeout",
    "retry",
    "fence",
    "run",
)
"""The names of the chain's own stages, in order: written out, so that declaring a stage does not import them all."""
FIRST, LAST = PLACES.index("arguments") + 1, PLACES.index("run")


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a call ends with: the text that the model gets, and how it went."""

    text: str
    outcome: Outcome = "ok"

    def with_text(self, text: str) -> "StageResult":
        """Return the same outcome with another text."""
        return replace(self, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCall:
    """What a stage may know of a call. `arguments` are the values that the tool gets, by parameter; read-only."""

    tool: Tool[..., Any]
    arguments: Mapping[str, Any]
    principal: Principal
    run_id: str
    session_id: str
    tool_call_id: str
    deps: Any = field(default=None, repr=False)

    def refuse(self, message: str) -> StageResult:
        """Return what says to the model that the call is not run, and why."""
        return StageResult(message, "refused")


Go = Callable[[], Awaitable[StageResult]]
StageFunction = Callable[[StageCall, Go], Awaitable[StageResult]]


@dataclass(frozen=True, eq=False)
class OwnStage:
    """A declared stage. `gap` counts the stages of the chain that a call meets before it."""

    fn: StageFunction
    gap: int

    @property
    def name(self) -> str:
        """The function's name, for the log."""
        return getattr(self.fn, "__name__", type(self.fn).__name__)


def stage(*, after: str = "", before: str = "") -> Callable[[StageFunction], OwnStage]:
    """Make a stage of `async def fn(call, proceed) -> StageResult`, at a place named by one of the chain's own stages.

    It returns what `await proceed()` gave, perhaps with another text, or `call.refuse(message)`. Several at one place
    keep their order. One that raises refuses the call.

    Raises:
        ToolInvalid: there is no such place, or the function is not async.
    """
    gap = _gap(after, before)

    def declare(fn: StageFunction) -> OwnStage:
        if not (inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))):  # noqa: B004
            raise ToolInvalid(f"stage '{getattr(fn, '__name__', fn)}' is no 'async def'; it has to await proceed()")
        return OwnStage(fn, gap)

    return declare


def _gap(after: str, before: str) -> int:
    if bool(after) == bool(before):
        raise ToolInvalid("a stage has one place: stage(after=…) or stage(before=…)")
    name = after or before
    if name not in PLACES:
        raise ToolInvalid(f"no stage named '{name}'; there are {listed(PLACES)}{hint(name, PLACES)}")
    gap = PLACES.index(name) + bool(after)
    if not FIRST <= gap <= LAST:
        raise ToolInvalid("a stage stands after 'arguments' at the earliest and before 'run' at the latest")
    return gap
