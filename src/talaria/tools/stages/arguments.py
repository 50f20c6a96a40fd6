"""Arguments: they fit the tool's schema, or the model is told what does not."""

import json

import structlog

from talaria.tools.arguments import bind, read_arguments
from talaria.tools.chain import CallContext, Proceed, ToolOutcome
from talaria.tools.errors import ArgumentsInvalid
from talaria.tools.health import Failure

LONGEST_SCHEMA = 10_000
_log = structlog.get_logger(__name__)


async def arguments(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Read and check what the model (or the approver who edited it) wrote. Guessed arguments never run."""
    tool, health = context.tool, context.run.argument_health
    try:
        read = read_arguments(tool, context.call.arguments)
        context.arguments = read.values
        context.values = bind(tool, read.values)
    except ArgumentsInvalid as error:
        failure = Failure(context.run.run.id, tool.name, context.call.arguments, error.message)
        return ToolOutcome(_told(context, error.message, health.failed(failure)), "invalid")
    health.passed(tool.name, mended=bool(read.mended), coerced=bool(read.coerced))
    if read.repairs:
        context.repairs += read.repairs
        _log.info("tool_arguments_repaired", tool=tool.name, repairs=list(read.repairs))
    return await proceed(context)


def _told(context: CallContext, message: str, times: int) -> str:
    """Say it plainly to a model that sends what failed before, and show it what the tool takes."""
    if times < 2:
        return message
    schema = json.dumps(context.tool.parameters, ensure_ascii=False, separators=(",", ":"))
    return (
        f"{message}\nThis very call failed the same way before ({times} times now); sending it again cannot help. "
        f"The JSON Schema of its arguments: {schema[:LONGEST_SCHEMA]}"
    )
