"""Run: the tool's own code, and its result as text."""

import asyncio
import inspect
from functools import partial
from typing import Any

import structlog

from talaria.core.errors import StopRun
from talaria.core.text import valid_text
from talaria.tools.chain import CallContext, Proceed, ToolOutcome
from talaria.tools.context import ToolContext
from talaria.tools.errors import ResultInvalid
from talaria.tools.result import result_text

_log = structlog.get_logger(__name__)


async def run(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Call the function: async ones here, others on a thread. Whatever it raises is told to the model."""
    del proceed  # the end of the chain
    tool = context.tool
    try:
        body = partial(tool.call, context.values, _tool_context(context))
        value = body() if tool.is_async else await context.run.on_thread(body)
        if inspect.isawaitable(value):
            value = await context.run.in_task(value)
        return ToolOutcome(result_text(value, says_nothing=tool.says_nothing))
    except StopRun as stop:
        message = valid_text(stop.message)
        return ToolOutcome(f"The tool ended the run: {message}", "error", stop=message)
    except ResultInvalid as error:
        _log.error("tool_result_invalid", tool=tool.name, error=context.run.redactor.mask(error.message))
        return ToolOutcome(f"{error.message}. The call itself went through.", "error")
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return ToolOutcome("The tool cancelled itself; it is not known what it did.", "unknown")
    except Exception as error:  # noqa: BLE001 - a tool's body: the model is told
        words = _words(error)
        _log.warning("tool_raised", tool=tool.name, error=context.run.redactor.mask(words))
        return ToolOutcome(words, "error")


def _words(error: Exception) -> str:
    try:
        return valid_text(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - the tool's own code again
        return f"{type(error).__name__}, which cannot say what it is"


def _tool_context(context: CallContext) -> ToolContext:
    run: Any = context.run
    return ToolContext(
        secrets=run.secrets,
        deps=run.deps,
        principal=run.principal,
        session=run.session,
        run_id=run.run.id,
        tool_call_id=context.call.call.id,
        idempotency_key=context.idempotency_key,
        deadline=context.deadline,
    )
