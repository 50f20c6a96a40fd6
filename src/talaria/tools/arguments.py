"""The way of a call's arguments: JSON text → object that fits the schema → values the function takes."""

from itertools import islice
from typing import Any, cast

from talaria.core.text import loads
from talaria.tools.declaration import Tool
from talaria.tools.problems import ENOUGH, TOO_DEEP, Problem, from_binding, from_schema, invalid, shortened


def parse_arguments(tool: Tool[..., Any], text: str) -> dict[str, Any]:
    """Return the arguments that the model wrote for `tool`; empty text means no arguments.

    Raises:
        ArgumentsInvalid: the text is no JSON object, or does not fit the tool's schema.
    """
    try:
        arguments = _parse(tool, text)
        if tool.validator.is_valid(arguments):
            return arguments
        problems = list(islice(from_schema(tool, arguments), ENOUGH))
    except (RecursionError, ValueError) as error:  # every parser and validator has its own limit, and says so this way
        raise invalid(tool.name, [TOO_DEEP]) from error
    raise invalid(tool.name, problems)


def bind(tool: Tool[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a value for every parameter of the function: dates, enums, models, and defaults where nothing was given.

    The arguments of a tool with a hand-written schema stay as they are.

    Raises:
        ArgumentsInvalid: a value fits the schema, but not the parameter's type.
    """
    if tool.binding is None:
        return arguments
    try:
        return tool.binding.values(arguments)
    except RecursionError as error:
        raise invalid(tool.name, [TOO_DEEP]) from error
    except ValueError as error:
        raise invalid(tool.name, from_binding(error)) from error


def _parse(tool: Tool[..., Any], text: str) -> dict[str, Any]:
    if not text or text.isspace():
        return {}
    try:
        arguments: Any = loads(text)
    except ValueError as error:
        problem = Problem("", f"these are not JSON ({error}): {text[:60]!r}; write one JSON object")
        raise invalid(tool.name, [problem]) from error
    if not isinstance(arguments, dict):
        raise invalid(tool.name, [Problem("", f"expected one JSON object, got {shortened(arguments)}")])
    return cast("dict[str, Any]", arguments)
