"""Once: a call is on record before it runs, and one that a crash cut short runs again only where that is safe."""

from talaria.journal.fold import UNKNOWN
from talaria.tools.chain import CallContext, Proceed, Suspended, ToolOutcome

TELL = (
    "It is not known whether this call took effect: the system restarted while it ran. "
    "It was not run again; find out what happened before you repeat it."
)


async def once(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Record the start, then go on: not before it is durable, unless the call has no side effects.

    After a crash the tool's declaration decides.
    """
    call, tool = context.call, context.tool
    if call.was_started and not tool.may_be_repeated:
        if tool.unknown_outcome == "tell":
            return ToolOutcome(TELL, "unknown")
        context.run.ask(call, UNKNOWN, context.shown)
        raise Suspended
    await context.run.begin(call, context.repairs, durably=tool.side_effects)
    return await proceed(context)
