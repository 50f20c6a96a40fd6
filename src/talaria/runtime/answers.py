"""The form of a turn's answer: whose schema it is, and whether the model keeps to it or a tool takes the answer."""

from collections.abc import Iterable, Sequence
from typing import Any

from talaria.journal.turn import OutputSpec
from talaria.models.routes import Route, find_route
from talaria.ports.model import ToolSpec
from talaria.tools.answers import ANSWER_TOOL, answer_tool, is_wrapped
from talaria.tools.declaration import Tool
from talaria.tools.output_type import OutputType

BY_TOOL = "Give your final answer by calling the tool `{}`, alone, and not as text."


def output_spec(schema: dict[str, Any], routes: Sequence[Route], model: str, taken: Iterable[str]) -> OutputSpec:
    """Return the form of an answer. Models take schemas of objects only; for the rest there is a tool.

    `taken`: the names of the turn's tools.
    """
    if routes and not is_wrapped(schema) and _all_keep_to_it(routes, model):
        return OutputSpec(schema)
    name, names = ANSWER_TOOL, {each.casefold() for each in taken}
    while name in names:
        name += "_"
    return OutputSpec(schema, name)


def _all_keep_to_it(routes: Sequence[Route], model: str) -> bool:
    """Whether the model, and each that may be asked in its place, keeps to a schema by itself."""
    names = (model, *find_route(routes, model).fallback)
    return all(find_route(routes, name).profile_of(name).json_schema for name in names)


def stand_in(output: OutputSpec, known: OutputType | None) -> Tool[..., Any]:
    """Return the tool that stands for the answer; an agent's own type checks what no schema can say."""
    name = output.tool or ANSWER_TOOL
    if known is not None and known.schema == output.schema:
        return known.tool(name)
    return answer_tool(output.schema, name)


def answer_spec(output: OutputSpec) -> ToolSpec:
    """The tool as a model sees it."""
    return answer_tool(output.schema, output.tool).spec
