"""One call in a process of its own, ended with all that it started when the call is given up."""

import asyncio
import sys

from talaria.tools.chain import CallContext, ToolOutcome
from talaria.tools.child.process import ChildProcess
from talaria.tools.child.wire import Job, Raised, Returned
from talaria.tools.context import Outlet
from talaria.tools.ended import invalid_result, raised, stopped


async def call_in_child(context: CallContext, outlet: Outlet) -> ToolOutcome:
    """Run the call in a fresh process; when the caller is cancelled, the process ends at once."""
    process = ChildProcess(_job(context), outlet)
    try:
        ended = await context.run.on_thread(process.run)
    except asyncio.CancelledError:
        process.kill()
        raise
    match ended:
        case Returned(text):
            return ToolOutcome(text)
        case Raised(text, is_stop=True):
            return stopped(text)
        case Raised(text, is_result=True):
            return invalid_result(context, text)
        case Raised(text):
            return raised(context, text, may_retry=ended.may_retry)
        case _:
            return _gone(context)


def _gone(context: CallContext) -> ToolOutcome:
    """Nobody knows what a process did that was killed, by the machine or by its own doing."""
    text = "The tool's process ended before it answered"
    done = raised(context, text, may_retry=True)
    if not context.tool.side_effects:
        return done
    return ToolOutcome(f"{text}; it is not known whether it took effect.", "unknown", may_retry=True)


def _job(context: CallContext) -> Job:
    run, tool = context.run, context.tool
    now = asyncio.get_running_loop().time()
    return Job(
        path=tuple(sys.path),
        module=tool.fn.__module__,
        function=tool.fn.__qualname__,
        tool=tool.name,
        description=tool.description,
        is_bound=tool.binding is not None,
        says_nothing=tool.says_nothing,
        arguments=context.arguments,
        secrets=dict(run.secrets),
        principal=run.principal,
        session=run.state.key.session,
        variables=run.state.variables,
        run_id=run.run.id,
        tool_call_id=context.call.call.id,
        idempotency_key=context.idempotency_key,
        seconds=None if context.deadline is None else context.deadline - now,
    )
