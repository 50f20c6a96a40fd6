"""Why a model may not have called a tool: what it was offered, how that reads, and what it was not offered."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any, cast

from talaria.diagnosis.course import Course
from talaria.diagnosis.words import count, names
from talaria.ports.model import ToolSpec
from talaria.tools.ask_user import ASK_USER
from talaria.tools.builtin.code import CODE_TOOLS
from talaria.tools.declaration import Tool
from talaria.tools.recall import RECALL
from talaria.tools.registry import GROUP, MANY
from talaria.tools.subagents import TASK_TOOLS

SHORT = 20
"""Characters of a description that hardly says when to use its tool."""
ALIKE = 0.6
"""From this share of common words on, two descriptions say the same."""
NEAR = 0.85
_WORD = re.compile(r"\w+")


def of_offers(course: Course, registered: Sequence[Tool[..., Any]] = ()) -> Iterator[str]:
    """Yield a sentence for every reason that shows; `registered` are the tools of the deployment, where known."""
    called = {call.name for call in course.calls}
    output = course.run.turn.output
    built_in = {RECALL, ASK_USER.name, *CODE_TOOLS, *(tool.name for tool in TASK_TOOLS), output.tool if output else ""}
    registered = [each for each in registered if each.source != "builtin"]
    offered = [spec for spec in course.run.context.tools if spec.name not in built_in]
    yield from _unheard(course, offered, called)
    never = [spec for spec in offered if spec.name not in called]
    if never:
        yield f"Offered, but never called: {names([spec.name for spec in never])}."
    if len(offered) > MANY:
        yield f"{len(offered)} tools were offered; models choose worse among more than {MANY}. Give the agent fewer."
    for spec in never:
        yield from _poorly_described(spec)
    yield from _confusable(offered, {spec.name for spec in never})
    yield from _not_offered(course, [each for each in registered if each.name not in {spec.name for spec in offered}])


def _unheard(course: Course, offered: list[ToolSpec], called: set[str]) -> Iterator[str]:
    """Calls of tools that are not there, and calls that were written as text."""
    known = {spec.name for spec in course.run.context.tools}
    for name in sorted(called - known - {""}):
        yield f"The model called '{name}', which it was not offered."
    for each in course.rounds:
        text = each.answer.message.text
        written = [spec.name for spec in offered if not each.calls and _is_written(spec.name, text)]
        if written:
            yield (
                f"In round {each.number} the model wrote a call of {names(written)} as text. It, or the server in "
                "front of it, does not do tool calls in this setup: check the model's chat template and the route."
            )


def _is_written(name: str, text: str) -> bool:
    pattern = rf'\b{re.escape(name)}\(|"(?:name|function|tool)"\s*:\s*"{re.escape(name)}"|<{re.escape(name)}>'
    return re.search(pattern, text) is not None


def _poorly_described(spec: ToolSpec) -> Iterator[str]:
    description = spec.description.strip()
    if len(description) < SHORT:
        yield (
            f"The description of '{spec.name}' is short ({description!r}): say what the tool does, and when to use it."
        )
    properties: dict[str, Any] = spec.parameters.get("properties", {})
    silent = [name for name, schema in properties.items() if not _says(schema)]
    if silent:
        yield f"Parameters of '{spec.name}' have no description: {names(silent)}."


def _says(schema: Any) -> bool:
    return not isinstance(schema, dict) or bool({"description", "enum", "const"} & set(cast("dict[str, Any]", schema)))


def _confusable(offered: list[ToolSpec], never: set[str]) -> Iterator[str]:
    for one, other in combinations(offered, 2):
        if not {one.name, other.name} & never:
            continue
        if _plain(one.name) == _plain(other.name) or SequenceMatcher(None, one.name, other.name).ratio() >= NEAR:
            yield f"The names '{one.name}' and '{other.name}' are nearly the same; models take one for the other."
        if _overlap(one.description, other.description) >= ALIKE:
            yield f"The descriptions of '{one.name}' and '{other.name}' say nearly the same; say what sets them apart."


def _plain(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


def _overlap(one: str, other: str) -> float:
    mine, theirs = (set(_WORD.findall(text.lower())) for text in (one, other))
    return len(mine & theirs) / max(1, len(mine | theirs))


def _not_offered(course: Course, tools: Sequence[Tool[..., Any]]) -> Iterator[str]:
    allow = course.run.turn.tools
    forbidden = [each for each in tools if allow is not None and not {each.name, GROUP + each.group} & set(allow)]
    unpermitted = [each for each in tools if each.permission and each.permission not in course.run.turn.roles]
    others = [each for each in tools if each not in forbidden and each not in unpermitted]
    for each in unpermitted:
        yield f"Not offered: '{each.name}' takes the role '{each.permission}', which the user of this run has not."
    if forbidden:
        yield (
            f"Not offered, because the request's list of tools does not have {'it' if len(forbidden) == 1 else 'them'}"
            f": {names([each.name for each in forbidden])}. The list was {list(allow or ())}."
        )
    if others:
        agent = course.run.turn.agent
        yield (
            f"{count(len(others), 'tools')} registered now, but not offered in this run: "
            f"{names([each.name for each in others])}. Look at the tools of the agent '{agent}', and at policy.rules."
        )
