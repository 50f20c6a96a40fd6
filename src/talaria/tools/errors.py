"""What can be wrong about tools, at import and in a call."""

from talaria.core.errors import ConfigurationError, InvalidRequest, TalariaError


class ToolInvalid(ConfigurationError):
    """A tool's declaration is wrong; raised when its module is imported. Names the tool and the parameter."""


class ArgumentsInvalid(InvalidRequest):
    """Arguments that do not fit the tool. `message` is for the model: a line a problem, at most five.

    `errors` says the same for a client: {"field": …, "message": …}, the fields as dotted paths.
    """


class ResultInvalid(TalariaError):
    """A tool returned something that no text can be made of; the fault is the tool's."""

    code = "tool_failed"


class CallFailed(Exception):
    """An outside platform, or the caller, says that a call failed; the model is told in its words."""


class TaskFailed(Exception):
    """A subagent's task ended with an error; the model is told."""
