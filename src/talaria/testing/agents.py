"""A bench for agents of one's own: initialized with no more than they need, with the parts as a test wants them."""

import inspect
import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from talaria.agents.own import AgentRequest, AgentRuntime, OwnAgent, agent
from talaria.agents.own_parts import Consent, Reply, ToolReply
from talaria.core.events import ChatEvent
from talaria.core.messages import AssistantMessage, Message, Text, ToolCall, ToolMessage, UserMessage
from talaria.ports.model import Answer, ModelRequest, Prompt
from talaria.testing.scripted_model import Say, ScriptedModel, Step
from talaria.tools.session import Session, session_in_memory


class Bench:
    """One agent at work without a runtime. What went through its parts is kept, in order, each in a list of its own.

    `asked`: of models; `called`: tools with arguments; `questions`: actions with details, or questions with choices;
    `consulted`: agents with queries; `measured`: metrics with amounts or seconds. `events` has what the last answer was
    made of.
    """

    def __init__(self, body: OwnAgent, parts: Mapping[str, Any]) -> None:
        self.asked: list[str | Sequence[Message]] = []
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.questions: list[tuple[str, dict[str, Any]]] = []
        self.consulted: list[tuple[str, str]] = []
        self.measured: list[tuple[str, float]] = []
        self.events: list[ChatEvent] = []
        self._body = body
        self._parts = parts

    async def answer(self, query: str, session: Session | None = None) -> str:
        """Return the text that the agent answers."""
        given = {
            "models": _Models(self.asked, self._parts["answers"]),
            "tools": _Tools(self.called, self._parts["tools"]),
            "approvals": _Approvals(self.questions, self._parts["decisions"]),
            "agents": _Agents(self.consulted, self._parts["agents"]),
            "metrics": _Metrics(self.measured),
        }
        request = AgentRequest(
            query=query,
            run_id="run_bench",
            messages=(UserMessage((Text(query),)),),
            parts={name: given[name] for name in self._body.needs},
        )
        said: Any = self._body.invoke(request, session or session_in_memory("bench"))
        if inspect.isawaitable(said):
            said = await said
        pieces = [said.text] if isinstance(said, Reply) else [piece async for piece in said]
        self.events = [each if isinstance(each, ChatEvent) else ChatEvent("token", each) for each in pieces]
        return "".join(each.data for each in self.events if each.type == "token")


class _Models:
    def __init__(self, asked: list[str | Sequence[Message]], answers: Iterable[str | Step]) -> None:
        self._asked, self._answers = asked, answers

    async def ask(
        self, messages: str | Sequence[Message], *, model: str = "", system: str = "", tools: Iterable[str] = ()
    ) -> AssistantMessage:
        del tools
        said = (UserMessage((Text(messages),)),) if isinstance(messages, str) else tuple(messages)
        self._asked.append(messages if isinstance(messages, str) else said)
        step = _next(self._answers, "answer", messages)
        script = ScriptedModel(Say(step) if isinstance(step, str) else step)
        items = [item async for items in script.stream(ModelRequest(model, Prompt(system, (), said))) for item in items]
        assert isinstance(items[-1], Answer)
        return items[-1].message


class _Tools:
    def __init__(self, called: list[tuple[str, dict[str, Any]]], tools: Mapping[str, Any]) -> None:
        self._called, self._tools = called, tools
        self.names = tuple(tools)

    async def call(self, name: str, /, **arguments: Any) -> ToolReply:
        self._called.append((name, arguments))
        return ToolReply(str(_of(self._tools, "tool", name, arguments)))

    async def answer(self, call: ToolCall) -> ToolMessage:
        return ToolMessage(call.id, call.name, (await self.call(call.name, **json.loads(call.arguments))).text)


class _Approvals:
    def __init__(self, questions: list[tuple[str, dict[str, Any]]], decisions: Iterable[bool | str | Consent]) -> None:
        self._questions, self._decisions = questions, decisions

    async def ask(self, action: str, /, **details: Any) -> Consent:
        self._questions.append((action, details))
        made = _next(self._decisions, "decision", action)
        return made if isinstance(made, Consent) else Consent("approved" if made else "declined", details, "bench")

    async def question(self, text: str, /, *choices: str) -> str | None:
        self._questions.append((text, {"choices": choices} if choices else {}))
        made = _next(self._decisions, "decision", text)
        return made if isinstance(made, str) else None


class _Agents:
    def __init__(self, consulted: list[tuple[str, str]], agents: Mapping[str, Any]) -> None:
        self._consulted, self._agents = consulted, agents

    async def ask(self, name: str, query: str) -> Reply:
        self._consulted.append((name, query))
        return Reply(str(_of(self._agents, "agent", name, {"query": query})))


class _Metrics:
    def __init__(self, measured: list[tuple[str, float]]) -> None:
        self._measured = measured

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        del labels
        self._measured.append((name, amount))

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        self.count(name, seconds, **labels)


def _next(given: Iterable[Any], kind: str, what: object) -> Any:
    found = next(iter(given), None)
    if found is None:
        raise AssertionError(f"no {kind} left for {what!r}; give the bench more of them")
    return found


def _of(given: Mapping[str, Any], kind: str, name: str, arguments: Mapping[str, Any]) -> Any:
    if name not in given:
        raise AssertionError(f"no {kind} named '{name}' on the bench; there are {', '.join(given) or 'none'}")
    return given[name](**arguments) if callable(given[name]) else given[name]


@asynccontextmanager
async def bench(
    body: OwnAgent,
    *,
    answers: Iterable[str | Step] = (),
    tools: Mapping[str, Any] | None = None,
    decisions: Iterable[bool | str | Consent] = (),
    agents: Mapping[str, Any] | None = None,
) -> AsyncGenerator[Bench]:
    """Initialize an agent, and destroy it in the end.

    `answers` are the models', in order: texts, or steps of a `ScriptedModel`. `tools` has a text or a function by name,
    `agents` likewise (its function gets `query`). `decisions` are those of people, in order: yes, no, a
    `Consent`, or the answer to a question.
    """
    agent(body)  # its members and needs are right
    known = tools or {}
    await body.initialize(AgentRuntime(frozenset(body.needs), tuple(known) if "tools" in body.needs else ()))
    parts = {"answers": iter(answers), "tools": known, "decisions": iter(decisions), "agents": agents or {}}
    try:
        yield Bench(body, parts)
    finally:
        await body.destroy()
