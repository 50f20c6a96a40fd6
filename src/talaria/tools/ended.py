"""How a tool's body ended, as the outcome of its call: the same words wherever the body ran."""

import structlog

from talaria.tools.chain import CallContext, ToolOutcome

_log = structlog.get_logger(__name__)


def stopped(message: str) -> ToolOutcome:
    """The tool ended the run."""
    return ToolOutcome(f"The tool ended the run: {message}", "error", stop=message)


def invalid_result(context: CallContext, message: str) -> ToolOutcome:
    """The tool returned what no text can be made of."""
    _log.error("tool_result_invalid", tool=context.tool.name, error=context.run.redactor.mask(message))
    return ToolOutcome(f"{message}. The call itself went through.", "error")


def raised(context: CallContext, words: str, *, may_retry: bool) -> ToolOutcome:
    """The tool raised an exception."""
    _log.warning("tool_raised", tool=context.tool.name, error=context.run.redactor.mask(words))
    return ToolOutcome(words, "error", may_retry=may_retry)
