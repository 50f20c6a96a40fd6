"""A bench for agents of one's own: initialized with no more than they need, with answers and tools of a test."""

import inspect
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from talaria.agents.own import AgentRequest, AgentRuntime, OwnAgent, Reply, ToolReply, agent
from talaria.core.messages import AssistantMessage, Message, Text
from talaria.tools.session import Session, session_in_memory


class Bench:
    """One agent at work without a runtime. `asked` and `called` keep what went through models and tools."""

    def __init__(self, body: OwnAgent, answers: Iterable[str], tools: Mapping[str, Any]) -> None:
        self.asked: list[str | Sequence[Message]] = []
        self.called: list[tuple[str, dict[str, Any]]] = []
        self._body = body
        self._answers = iter(answers)
        self._tools = tools

    async def answer(self, query: str, session: Session | None = None) -> str:
        """Return what the agent answers."""
        parts = dict.fromkeys(self._body.needs, self)
        request = AgentRequest(query=query, run_id="run_bench", parts=parts)
        said: Any = self._body.invoke(request, session or session_in_memory("bench"))
        if inspect.isawaitable(said):
            said = await said
        return said.text if isinstance(said, Reply) else "".join([piece async for piece in said])

    async def ask(self, messages: str | Sequence[Message], *, model: str = "", system: str = "") -> AssistantMessage:
        """Give the next answer."""
        self.asked.append(messages)
        answer = next(self._answers, None)
        if answer is None:
            raise AssertionError(f"no answer left for {messages!r}; give the bench more of them")
        return AssistantMessage((Text(answer),), model)

    async def call(self, name: str, /, **arguments: Any) -> ToolReply:
        """Give the tool's text, or what its function returns."""
        self.called.append((name, arguments))
        if name not in self._tools:
            raise AssertionError(f"no tool named '{name}' on the bench; there are {', '.join(self._tools) or 'none'}")
        tool = self._tools[name]
        return ToolReply(str(tool(**arguments) if callable(tool) else tool))


@asynccontextmanager
async def bench(
    body: OwnAgent, *, answers: Iterable[str] = (), tools: Mapping[str, Any] | None = None
) -> AsyncGenerator[Bench]:
    """Initialize an agent, and destroy it in the end. `tools` has a text or a function by name."""
    agent(body)  # its members and needs are right
    known = tools or {}
    await body.initialize(AgentRuntime(frozenset(body.needs), tuple(known) if "tools" in body.needs else ()))
    try:
        yield Bench(body, answers, known)
    finally:
        await body.destroy()
