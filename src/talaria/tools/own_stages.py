"""Stages of one's own: what `@stage` makes of a function, and how it takes its place in the one chain."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import structlog

from talaria.core.errors import StopRun
from talaria.core.principal import Principal
from talaria.core.text import valid_text
from talaria.journal.entries import Outcome
from talaria.tools.chain import CallContext, Proceed, Stage, ToolOutcome
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.nearest import hint, listed
from talaria.tools.stages import STAGES
from talaria.tools.stages.trim import shorten

PLACES = tuple(each.__name__ for each in STAGES)
FIRST, LAST, TRIM = PLACES.index("arguments") + 1, PLACES.index("run"), PLACES.index("trim")
FAILED = "Not run: a check of this call failed. Try something else, or answer with what you have."
WITHHELD = "A check of the result failed, so it is withheld. The call itself was not undone."
LEFT = "A check gave this call up; it is not known whether it took effect."
_log = structlog.get_logger(__name__)


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

    async def __call__(self, context: CallContext, proceed: Proceed) -> ToolOutcome:
        """Serve as a stage of the chain: whatever goes wrong in the function, the call does not pass."""
        passage = _Passage(context, proceed)
        try:
            said = await self.fn(_call(context), passage.proceed)
        except StopRun as stop:
            message = valid_text(stop.message)
            return self._checked(context, passage, StageResult(f"The run was ended: {message}", "refused"), message)
        except Exception as error:  # noqa: BLE001 - a stage of one's own: the call does not pass, and the log says why
            passage.raise_failure()
            _log.error("stage_failed", stage=self.name, tool=context.tool.name, exc_info=error)
            said = None
        return self._checked(context, passage, said)

    def _checked(
        self, context: CallContext, passage: "_Passage", said: StageResult | None, stop: str | None = None
    ) -> ToolOutcome:
        """The outcome on record: only a StageResult counts, secrets are masked, and what was run is not forgotten."""
        passage.raise_failure()
        done = passage.done
        if passage.has_begun and done is None:
            return ToolOutcome(LEFT, "unknown", stop=stop)
        if not isinstance(said, StageResult):
            if said is not None:
                _log.error("stage_failed", stage=self.name, error=f"it returned {type(said).__name__}")
            said = StageResult(FAILED, "refused") if done is None else _withheld(done)
        text, mask = valid_text(said.text), context.run.redactor.mask
        stop = mask(stop) if stop is not None else done.stop if done is not None else None
        outcome = done.outcome if stop is not None and done is not None else said.outcome
        if done is not None and text == done.text:
            return ToolOutcome(text, outcome, done.whole, stop)
        text = mask(text)
        limit = context.tool.result_limit or context.run.run.turn.limits.result_limit
        if self.gap > TRIM or len(text) <= limit:
            return ToolOutcome(text, outcome, None, stop)
        return ToolOutcome(shorten(text, limit), outcome, text, stop)


class _Passage:
    """The rest of the chain, as a stage of one's own may go it: once, and never past what the harness has to say."""

    def __init__(self, context: CallContext, rest: Proceed) -> None:
        self._context = context
        self._rest = rest
        self._failure: BaseException | None = None
        self.has_begun = False
        self.done: ToolOutcome | None = None

    async def proceed(self) -> StageResult:
        """Run the rest of the chain; return what it ends with."""
        if self.has_begun:
            raise RuntimeError("a stage may proceed once; a tool is not run twice for one call")
        self.has_begun = True
        try:
            self.done = await self._rest(self._context)
        except BaseException as error:
            self._failure = error
            raise
        return StageResult(self.done.text, self.done.outcome)

    def raise_failure(self) -> None:
        """Raise what the rest of the chain raised: the stage is not asked. Its own time limits are its own."""
        task = asyncio.current_task()
        if isinstance(self._failure, asyncio.CancelledError) and not (task is not None and task.cancelling()):
            return
        if self._failure is not None:
            raise self._failure


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


def chain_with(own: Iterable[OwnStage]) -> tuple[Stage, ...]:
    """Return all stages in order: those of one's own stand in their places, in the order given."""
    mine = tuple(dict.fromkeys(own))
    return tuple(
        each
        for at in range(len(STAGES) + 1)
        for each in (*(one for one in mine if one.gap == at), *STAGES[at : at + 1])
    )


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


def _withheld(done: ToolOutcome) -> StageResult:
    return StageResult(WITHHELD, "error" if done.outcome == "ok" else done.outcome)


def _call(context: CallContext) -> StageCall:
    run = context.run
    return StageCall(
        tool=context.tool,
        arguments=MappingProxyType(context.values),
        principal=run.principal,
        run_id=run.run.id,
        session_id=run.state.key.session,
        tool_call_id=context.call.call.id,
        deps=run.deps,
    )
