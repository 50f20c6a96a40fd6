"""Arguments: they fit the tool's schema, or the model is told what does not."""

from talaria.tools.arguments import bind, parse_arguments
from talaria.tools.chain import CallContext, Proceed, ToolOutcome
from talaria.tools.errors import ArgumentsInvalid


async def arguments(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Parse and check what the model (or the approver who edited it) wrote. Guessed arguments never run."""
    try:
        context.values = bind(context.tool, parse_arguments(context.tool, context.call.arguments))
    except ArgumentsInvalid as error:
        return ToolOutcome(error.message, "refused")
    return await proceed(context)
