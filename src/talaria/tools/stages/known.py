"""Known: the tool exists in this run."""

from talaria.tools.chain import CallContext, Proceed, ToolOutcome
from talaria.tools.nearest import hint, listed


async def known(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Find the tool; a name the run does not have is told to the model with the names there are."""
    name = context.call.call.name
    tool = context.run.tools.get(name)
    if tool is None:
        names = [each for each in context.run.tools if each not in context.run.policy.denied]
        there = f"there are {listed(names)}" if names else "there are none in this turn"
        return ToolOutcome(f"no tool named '{name[:80]}'; {there}{hint(name, names)}", "invalid")
    context.tool = tool
    if context.call.call.written:
        context.repairs = (f"name: {context.call.call.written[:80]} to {name}",)
    return await proceed(context)
