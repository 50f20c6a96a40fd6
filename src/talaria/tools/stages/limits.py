"""Limits: so many calls a run, so many of one tool."""

from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def limits(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Refuse calls above the run's limits, and every call after a limit was met: the model then has to answer."""
    call, run = context.call, context.run.run
    bounds = run.turn.limits
    if call.ordinal > bounds.max_calls:
        return _refuse(f"the limit of {bounds.max_calls} tool calls in this turn is reached")
    if call.nth > bounds.max_calls_per_tool:
        return _refuse(f"the limit of {bounds.max_calls_per_tool} calls of '{call.call.name}' in this turn is reached")
    if run.over_limit_round and run.rounds > run.over_limit_round:
        return _refuse("the limit of tool calls in this turn was reached before")
    return await proceed(context)


def _refuse(why: str) -> ToolOutcome:
    return ToolOutcome(f"Not run: {why}. Answer with what you have.", "refused")
