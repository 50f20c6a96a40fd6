"""Playing a recorded run again: its decisions about calls, its tools' recorded results, and what came of it."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, cast

import msgspec

from talaria.agents.agent import AgentSpec
from talaria.core.errors import StopRun
from talaria.core.events import ChatEvent
from talaria.core.principal import Principal
from talaria.runtime.desk import Decision
from talaria.runtime.runtime import Runtime
from talaria.tools.ask_user import ASK_USER
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

Called = tuple[str, Any, str]
"""A call: the tool's name, the model's arguments (a value, or the text where it is no JSON), `ok` or `failed`."""


class Decided(msgspec.Struct, frozen=True):
    """What a person decided about a call of `tool` with `arguments`; `edited` are those that ran instead.

    `answer` is what the user said to a question.
    """

    tool: str
    arguments: Any
    approve: bool
    edited: dict[str, Any] | None = None
    comment: str = ""
    answer: str | None = None


class Replayed(msgspec.Struct):
    """What came of a run. `finish` is the reason why it ended, or the code of its error."""

    calls: list[Called]
    text: str
    finish: str


async def replay(
    runtime: Runtime,
    agent: AgentSpec | str,
    query: str,
    *,
    roles: Sequence[str] = (),
    decisions: Sequence[Decided] = (),
    **fields: Any,
) -> Replayed:
    """Run a turn to its end; `decisions` answer its questions, each one of them.

    `roles` are the user's, `fields` those of the chat request; see `Runtime.run`.

    Raises:
        AssertionError: there is a question without a decision.
    """
    principal = Principal(roles=tuple(roles))
    left, results = list(decisions), dict[str, str]()
    made: dict[str, tuple[str, Any]] = {}
    run_id = text = finish = last = ""
    async with aclosing(cast("Any", runtime.stream(agent, query, principal=principal, **fields))) as events:
        async for event in events:
            last = event.type
            if event.type == "run_started":
                run_id = event.data
            elif event.type == "tool_call":
                made |= {call.id: (call.name, value_of(call.arguments)) for call in event.tool_calls}
            elif event.type == "tool_result":
                results |= {each.id: "failed" if each.is_error else "ok" for each in event.tool_results}
            elif event.type in ("approval_request", "question"):
                await runtime.parts.desk.decide(principal, _decision(event, left))
            elif event.type in ("finish", "error"):
                finish = event.reason
    if last == "finish":
        text = (await runtime.parts.lookup.result(run_id, principal)).text
    return Replayed([(*made[id_], results[id_]) for id_ in made if id_ in results], text, finish)


def _decision(event: ChatEvent, left: list[Decided]) -> Decision:
    found = next((each for each in left if _fits(each, event)), None)
    if found is None:
        (asked,) = [f"call {each.name}({each.arguments})" for each in event.tool_calls or ()] or [
            f"question {event.question!r}"
        ]
        raise AssertionError(f"nobody decides about the {asked}; left are {left!r}")
    left.remove(found)
    return Decision(event.data, found.approve, found.edited, found.comment, answer=found.answer)


def _fits(decided: Decided, event: ChatEvent) -> bool:
    if event.question is not None:
        return decided.tool == ASK_USER.name and decided.arguments["question"] == event.question
    asked = [(each.name, value_of(each.arguments or "")) for each in event.tool_calls or ()]
    return asked == [(decided.tool, decided.arguments)]


def value_of(arguments: str) -> Any:
    """Return what a model's arguments say, or their text where that is no JSON."""
    try:
        return msgspec.json.decode(arguments)
    except (ValueError, RecursionError):
        return arguments


class Fake(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a model saw it, and what its calls gave, by their ids.

    `results` are texts, `failures` errors, `stops` messages that ended the run; `asked` has the arguments of calls for
    which a person was asked.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    results: dict[str, str] = {}
    failures: dict[str, str] = {}
    stops: dict[str, str] = {}
    asked: tuple[dict[str, Any], ...] = ()

    def tool(self) -> Tool[..., Any]:
        """Return a tool that gives again what was recorded; other calls fail."""

        async def answer(recorded_call: ToolContext, **arguments: Any) -> str:
            id_ = recorded_call.tool_call_id
            if id_ in self.stops:
                raise StopRun(self.stops[id_])
            if id_ not in self.results:
                raise AssertionError(self.failures.get(id_, f"no result is recorded for {self.name}({arguments})"))
            return self.results[id_]

        def asks(arguments: dict[str, Any]) -> bool:
            return arguments in self.asked

        return Tool(self.name, self.description, self.parameters, answer, approval=asks, parallel=True)
