"""The way of a call's arguments: JSON text → object in the form that the schema wants → values the function takes."""

from itertools import islice
from typing import Any, NamedTuple

from talaria.tools.binding import Binding
from talaria.tools.coercion.parts import Notes
from talaria.tools.declaration import Tool
from talaria.tools.errors import ArgumentsInvalid
from talaria.tools.json_mending import Unreadable
from talaria.tools.json_text import read_object
from talaria.tools.problems import ENOUGH, TOO_DEEP, Problem, excerpt, from_binding, invalid, wanted_fields
from talaria.tools.schema_problems import TOO_BRANCHED, from_schema, too_branched


class Arguments(NamedTuple):
    """Arguments that fit the tool's schema. `mended`: what of the text was no JSON; `coerced`: which values changed."""

    values: dict[str, Any]
    mended: tuple[str, ...] = ()
    coerced: tuple[str, ...] = ()

    @property
    def repairs(self) -> tuple[str, ...]:
        """All that was repaired, for the log."""
        return self.mended + self.coerced


def read_arguments(tool: Tool[..., Any], text: str) -> Arguments:
    """Read the arguments that a model wrote for `tool`, in three steps: parse, coerce, validate.

    What fits the schema stays as it is. No text means no arguments.

    Raises:
        ArgumentsInvalid: what is meant is in doubt, or does not fit.
    """
    try:
        arguments, mended = read_object(text)
        if tool.validator.is_valid(arguments):
            return Arguments(arguments, mended)
        coerced, notes = tool.coercer.coerce(arguments)
        if tool.validator.is_valid(coerced) and not notes.problems:
            return Arguments(coerced, mended, tuple(notes.repairs))
        raise invalid(tool.name, _problems(tool, coerced, notes))
    except Unreadable as error:
        unreadable = Problem("", f"{error}. This came: {excerpt(text)}")
        raise invalid(tool.name, [unreadable, Problem("", wanted_fields(tool.parameters))]) from error
    except ArgumentsInvalid:
        raise
    except (RecursionError, ValueError) as error:  # every parser and validator has its own limit, and says so this way
        raise invalid(tool.name, [TOO_DEEP]) from error


def parse_arguments(tool: Tool[..., Any], text: str) -> dict[str, Any]:
    """Return the values of `read_arguments`, which also says what was repaired.

    Raises:
        ArgumentsInvalid: what is meant is in doubt, or does not fit.
    """
    return read_arguments(tool, text).values


def bind(tool: Tool[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a value for every parameter of the function: dates, enums, models, and defaults where nothing was given.

    The arguments of a tool with a hand-written schema stay as they are.

    Raises:
        ArgumentsInvalid: a value fits the schema, but not the parameter's type.
    """
    return arguments if tool.binding is None else bind_with(tool.name, tool.binding, arguments)


def bind_with(name: str, binding: Binding, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a value for every parameter, where `name` is what errors call the tool.

    Raises:
        ArgumentsInvalid: a value fits the schema, but not the parameter's type.
    """
    try:
        return binding.values(arguments)
    except RecursionError as error:
        raise invalid(name, [TOO_DEEP]) from error
    except ValueError as error:
        raise invalid(name, from_binding(error)) from error


def _problems(tool: Tool[..., Any], coerced: Any, notes: Notes) -> list[Problem]:
    """What coercion knows about a field goes before what the schema says of the same field."""
    if too_branched(tool.parameters, coerced):
        return [*notes.problems.values(), TOO_BRANCHED]
    found = from_schema(tool.validator, tool.parameters, coerced)
    others = (each for each in found if each.path not in notes.problems)
    return [*notes.problems.values(), *islice(others, ENOUGH)]
