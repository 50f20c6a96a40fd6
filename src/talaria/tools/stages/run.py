"""Run: the tool's own code, and its result as text."""

import asyncio
import inspect
from functools import partial
from typing import Any

from talaria.core.errors import InvalidRequest, StopRun
from talaria.core.text import valid_text
from talaria.tools.chain import CallContext, Proceed, Suspended, ToolOutcome
from talaria.tools.child.call import call_in_child
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool
from talaria.tools.ended import invalid_result, raised, stopped
from talaria.tools.errors import CallFailed, ResultInvalid
from talaria.tools.memory import use_memory
from talaria.tools.outlet import CallOutlet
from talaria.tools.result import Pictured, result_text
from talaria.tools.words import words_of


async def run(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Call the function: async ones here, others on a thread. Whatever it raises is told to the model."""
    del proceed  # the end of the chain
    if not context.tool.may_speak:
        return await _call(context, None)
    outlet = CallOutlet(context)
    try:
        return await _call(context, outlet)
    finally:
        outlet.close()


async def _call(context: CallContext, outlet: CallOutlet | None) -> ToolOutcome:
    tool = context.tool
    try:
        if outlet is not None and tool.isolate is not None:
            return await call_in_child(context, outlet)
        body = partial(tool.call, context.values, None if outlet is None else _tool_context(context, outlet))
        value = body() if tool.is_async else await context.run.on_thread(body)
        if not isinstance(value, str) and inspect.isawaitable(value):
            value = await context.run.in_task(value)
        return _returned(tool, value)
    except Suspended:  # what it waits for waits for a person
        raise
    except StopRun as stop:
        return stopped(valid_text(stop.message))
    except CallFailed as error:
        return raised(context, valid_text(str(error)), may_retry=False)
    except ResultInvalid as error:
        return invalid_result(context, error.message)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return ToolOutcome("The tool cancelled itself; it is not known what it did.", "unknown")
    except Exception as error:  # noqa: BLE001 - a tool's body: the model is told
        return raised(context, words_of(error), may_retry=not isinstance(error, InvalidRequest))


def _returned(tool: Tool[..., Any], value: Any) -> ToolOutcome:
    if isinstance(value, Pictured):
        return ToolOutcome(valid_text(value.text), images=value.images)
    return ToolOutcome(result_text(value, says_nothing=tool.says_nothing))


def _tool_context(context: CallContext, outlet: CallOutlet) -> ToolContext:
    run = context.run
    return ToolContext(
        secrets=run.secrets,
        deps=run.deps,
        principal=run.principal,
        session=run.session,
        sandbox=run.sandbox,
        subagents=run.subagents_of(context.call),
        run_id=run.run.id,
        tool_call_id=context.call.call.id,
        idempotency_key=context.idempotency_key,
        deadline=context.deadline,
        outlet=outlet,
        whole=run.whole,
        keep=partial(run.save, context.call),
        memory=partial(use_memory, context),
        keep_plan=partial(run.keep_plan, context.call),
    )
