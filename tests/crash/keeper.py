"""An agent of one's own for the trials: it speaks, runs a loop of its own, and asks a person, all in one turn."""

from collections.abc import AsyncIterator

from talaria import AgentRequest, AgentRuntime, ChatEvent, Session
from talaria.core.messages import Message

KEEPER = "keeper"
OWN = "own"
"""The turn that the keeper takes."""
TOLD = (
    ("reasoning", "A customer. "),
    ("token", "I look."),
    ("custom", {"calls": 2}),
    ("token", "It is charged."),
    ("token", " Shall I send it?"),
    ("token", " True."),
)
"""What the keeper says, in order."""


class Keeper:
    """What it says depends on no tool's result."""

    name = KEEPER
    needs = frozenset({"models", "tools", "approvals", "metrics"})
    tools = ("stock", "charge", "reserve")

    async def initialize(self, runtime: AgentRuntime) -> None:
        """Nothing to make ready."""

    async def invoke(self, request: AgentRequest, session: Session) -> AsyncIterator[str | ChatEvent]:
        """Answer in pieces, with steps of every kind between them."""
        yield ChatEvent("reasoning", "A customer. ")
        messages: list[Message] = list(request.messages)
        while True:
            answer = await request.models.ask(messages, system="You keep a shop.", tools=request.tools.names)
            request.metrics.count("answers")
            yield answer.text
            if not answer.calls:
                break
            yield ChatEvent("custom", {"calls": len(answer.calls)}, name="calls")
            messages += [answer, *[await request.tools.answer(call) for call in answer.calls]]
        yield " Shall I send it?"
        consent = await request.approvals.ask("send", order="K-1")
        await request.tools.call("reserve", item="wings")
        yield f" {consent.given}."

    async def destroy(self) -> None:
        """Nothing to let go of."""
