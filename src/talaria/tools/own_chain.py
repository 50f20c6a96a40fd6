"""Stages of one's own at work: their places in the one chain, and that nothing passes one that fails."""

import asyncio
from collections.abc import Iterable
from types import MappingProxyType

import structlog

from talaria.core.errors import StopRun
from talaria.core.text import valid_text
from talaria.tools.chain import CallContext, Proceed, Stage, ToolOutcome
from talaria.tools.own_stages import PLACES, OwnStage, StageCall, StageResult
from talaria.tools.stages import STAGES
from talaria.tools.stages.trim import shorten

TRIM = PLACES.index("trim")
FAILED = "Not run: a check of this call failed. Try something else, or answer with what you have."
WITHHELD = "A check of the result failed, so it is withheld. The call itself was not undone."
LEFT = "A check gave this call up; it is not known whether it took effect."
_log = structlog.get_logger(__name__)


def chain_with(own: Iterable[OwnStage]) -> tuple[Stage, ...]:
    """Return all stages in order: those of one's own stand in their places, in the order given."""
    mine = tuple(dict.fromkeys(own))
    return tuple(
        each
        for at in range(len(STAGES) + 1)
        for each in (*(_Served(one) for one in mine if one.gap == at), *STAGES[at : at + 1])
    )


class _Served:
    """A stage of one's own as a stage of the chain."""

    def __init__(self, stage: OwnStage) -> None:
        self.stage = stage

    async def __call__(self, context: CallContext, proceed: Proceed) -> ToolOutcome:
        """Serve as a stage of the chain: whatever goes wrong in the function, the call does not pass."""
        passage = _Passage(context, proceed)
        try:
            said = await self.stage.fn(_call(context), passage.proceed)
        except StopRun as stop:
            message = valid_text(stop.message)
            return self._checked(context, passage, StageResult(f"The run was ended: {message}", "refused"), message)
        except Exception as error:  # noqa: BLE001 - a stage of one's own: the call does not pass, and the log says why
            passage.raise_failure()
            why = context.run.redactor.traceback(error)  # a stage may have seen a result before it was masked
            _log.error("stage_failed", stage=self.stage.name, tool=context.tool.name, exception=why)
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
                _log.error("stage_failed", stage=self.stage.name, error=f"it returned {type(said).__name__}")
            said = StageResult(FAILED, "refused") if done is None else _withheld(done)
        text, mask = valid_text(said.text), context.run.redactor.mask
        stop = mask(stop) if stop is not None else done.stop if done is not None else None
        outcome = done.outcome if stop is not None and done is not None else said.outcome
        if done is not None and text == done.text:
            may_retry = done.may_retry and outcome == done.outcome
            return ToolOutcome(text, outcome, done.whole, stop, may_retry, done.images if outcome == "ok" else ())
        text = mask(text)
        limit = context.tool.result_limit or context.run.run.turn.limits.result_limit
        if self.stage.gap > TRIM or len(text) <= limit:
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
