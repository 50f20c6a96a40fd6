"""Order: calls with side effects run one after the other, in the model's order."""

from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def order(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Let calls that are safe to run together go on; the others wait for those before them."""
    if not context.tool.may_run_in_parallel:
        await context.run.in_turn(context.call)
    if context.run.run.stopped is not None:
        return ToolOutcome("Not run: a tool before this call ended the run.", "refused")
    return await proceed(context)
