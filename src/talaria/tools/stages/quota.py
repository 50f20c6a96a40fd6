"""Quota: room for the call under every quota that holds for it."""

from talaria.core.errors import QuotaExceeded
from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def quota(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Take the call's room, and give it back unless the call begins: waiting for a person takes none."""
    run, call = context.run, context.call
    if run.quota is None or call.was_started:  # one that a crash cut short has been counted
        return await proceed(context)
    try:
        hold = await run.quota.take_call(context.tool.name)
    except QuotaExceeded as error:
        context.audit("quota", "refused", subject=error.quota, detail=error.message)
        return ToolOutcome(f"Not run: {error.message}. Go on without it, or answer with what you have.", "refused")
    try:
        return await proceed(context)
    finally:
        if not call.was_started:
            await hold.give_back()
