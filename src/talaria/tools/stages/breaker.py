"""Breaker: a tool, or an outside server, that keeps failing is not called for a while."""

import structlog

from talaria.tools.chain import CallContext, Proceed, ToolOutcome

_log = structlog.get_logger(__name__)


async def breaker(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Refuse the call while the tool's breaker is open; else let it go on, and see how it ends."""
    tool, breakers = context.tool, context.run.breakers
    if not tool.breaker or breakers.threshold is None:
        return await proceed(context)
    key = tool.name if tool.breaker is True else f"server:{tool.breaker}"
    wait = breakers.enter(key)
    if wait:
        return ToolOutcome(
            f"Not run: '{key}' kept failing, so it is not called for now. Try again in {wait:.0f} s, or do without it.",
            "refused",
        )
    good, is_probe = None, breakers.is_open(key)
    try:
        done = await proceed(context)
        good = True if done.outcome == "ok" else False if _is_failure(done) else None
    finally:
        if breakers.leave(key, good, is_probe=is_probe):
            _log.warning("breaker_opened", tool=key, failures=breakers.threshold)
            context.audit("breaker", "open", detail=f"{breakers.threshold} calls in a row failed")
    return done


def _is_failure(done: ToolOutcome) -> bool:
    """It raised, ran out of time or was lost; a tool that ends the run or refuses its arguments is in order."""
    return done.stop is None and (done.may_retry or done.outcome == "unknown")
