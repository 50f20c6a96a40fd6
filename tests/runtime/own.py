"""Agents of one's own, made of their `invoke`."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from talaria import AgentRequest, AgentRuntime, ChatEvent, Reply, Session, agent
from talaria.agents.own import OwnSpec
from talaria.core.messages import Message

Pieces = AsyncIterator[str | ChatEvent]
ALL = frozenset({"models", "tools", "approvals", "agents", "metrics"})


class Own:
    """An agent made of its `invoke`."""

    name = "own"

    def __init__(
        self, body: Callable[[AgentRequest, Session], Any], needs: frozenset[str] = ALL, tools: Any = None
    ) -> None:
        self.body = body
        self.needs = needs
        self.tools = tools

    async def initialize(self, runtime: AgentRuntime) -> None:
        pass

    def invoke(self, request: AgentRequest, session: Session) -> Any:
        return self.body(request, session)

    async def destroy(self) -> None:
        pass


def own(body: Callable[[AgentRequest, Session], Any]) -> OwnSpec:
    return agent(Own(body))


async def loop(request: AgentRequest, session: Session) -> Reply:
    """The tool-calling loop, written by hand."""
    messages: list[Message] = list(request.messages)
    while True:
        answer = await request.models.ask(messages, tools=request.tools.names)
        if not answer.calls:
            return Reply(answer.text)
        messages += [answer, *[await request.tools.answer(call) for call in answer.calls]]
