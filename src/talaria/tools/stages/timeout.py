"""Timeout: no call takes longer than its tool may."""

import asyncio

from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def timeout(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Give the call up at its deadline; what a call with side effects did until then is unknown."""
    tool = context.tool
    seconds = tool.timeout or context.run.run.turn.limits.tool_timeout
    context.began = asyncio.get_running_loop().time()
    context.deadline = context.began + seconds
    scope = asyncio.timeout_at(context.deadline)
    try:
        async with scope:
            return await proceed(context)
    except TimeoutError:
        if not scope.expired():
            raise
    if tool.side_effects:
        text = f"Timed out after {seconds:g} s; it is not known whether it took effect. Check before you repeat it."
        return ToolOutcome(text, "unknown")
    return ToolOutcome(f"Timed out after {seconds:g} s.", "error", may_retry=True)
