"""Timeout: no call takes longer than its tool may."""

import asyncio

from talaria.threads.watchdog import Watchdog
from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def timeout(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Give the call up at its deadline; what a call with side effects did until then is unknown."""
    tool = context.tool
    seconds = tool.timeout or context.run.run.turn.limits.tool_timeout
    context.began = asyncio.get_running_loop().time()
    context.deadline = context.began + seconds
    watchdog = Watchdog()
    watchdog.arm(seconds)
    try:
        with watchdog:
            return await proceed(context)
    except TimeoutError:
        if not watchdog.expired:
            raise
    finally:
        watchdog.cancel()
    if tool.side_effects:
        text = f"Timed out after {seconds:g} s; it is not known whether it took effect. Check before you repeat it."
        return ToolOutcome(text, "unknown")
    return ToolOutcome(f"Timed out after {seconds:g} s.", "error", may_retry=True)
