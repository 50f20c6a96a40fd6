"""Client: a call that the caller runs is handed over and suspended, until its result is there."""

from talaria.journal.questions import CLIENT
from talaria.tools.chain import CallContext, Proceed, Suspended, ToolOutcome


async def client(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Ask for the result, after any consent that the call takes; with it the call goes on."""
    if not context.tool.by_client:
        return await proceed(context)
    done = context.call.resolved
    if done is None or done.outcome != "answered":
        context.run.ask(context.call, CLIENT, context.shown)
        raise Suspended
    context.values = {"answer": done.answer, "is_error": done.is_error}
    return await proceed(context)
