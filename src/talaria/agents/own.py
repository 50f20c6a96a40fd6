"""Agents of one's own, as they are declared: their members, what they need, and what each turn hands them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from talaria.agents.agent import AgentSpec
from talaria.agents.own_parts import PARTS, Agents, Approvals, Metrics, Models, Reply, Tools
from talaria.core.errors import ConfigurationError
from talaria.core.events import ChatEvent
from talaria.core.messages import Message
from talaria.core.principal import Principal
from talaria.tools.nearest import hint, listed
from talaria.tools.session import Session

_MEMBERS = ("name", "needs", "initialize", "invoke", "destroy")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """A turn: what is asked, and the parts that the agent needs. What goes through these is recorded.

    `messages` is the conversation up to the query, which is its last message; it stays the same when the run resumes.
    """

    query: str
    run_id: str
    messages: tuple[Message, ...] = field(default=(), repr=False)
    principal: Principal = field(default_factory=Principal)
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def models(self) -> Models:
        """The models."""
        return self._part("models")

    @property
    def tools(self) -> Tools:
        """The tools of this turn."""
        return self._part("tools")

    @property
    def approvals(self) -> Approvals:
        """The people who decide."""
        return self._part("approvals")

    @property
    def agents(self) -> Agents:
        """The other agents."""
        return self._part("agents")

    @property
    def metrics(self) -> Metrics:
        """The runtime's metrics."""
        return self._part("metrics")

    def _part(self, name: str) -> Any:
        if name not in self.parts:
            raise ConfigurationError(f"this agent does not need '{name}'; add it to its 'needs'")
        return self.parts[name]


@dataclass(frozen=True, slots=True)
class AgentRuntime:
    """What `initialize` may know: the parts that the agent needs, and the names of the tools that there are."""

    needs: frozenset[str] = frozenset()
    tool_names: tuple[str, ...] = ()


Pieces = AsyncIterator[str | ChatEvent] | AsyncIterator[str] | AsyncIterator[ChatEvent]
Answering = Awaitable[Reply | Pieces] | Pieces


class OwnAgent(Protocol):
    """An agent of one's own. `invoke` must be deterministic but for what the parts give it."""

    name: str
    needs: frozenset[str]

    async def initialize(self, runtime: AgentRuntime) -> None:
        """Make ready, once a process and before the first turn."""
        ...

    def invoke(self, request: AgentRequest, session: Session) -> Answering:
        """Answer a turn: at once, or in pieces of text and events, between which parts are used as well."""
        ...

    async def destroy(self) -> None:
        """Let go of everything."""
        ...


@dataclass(frozen=True)
class OwnSpec(AgentSpec):
    """A declared agent of one's own. `ready` holds what is known of it in this process."""

    body: OwnAgent | None = None
    ready: "asyncio.Lock" = field(default_factory=asyncio.Lock, repr=False)
    begun: list[bool] = field(default_factory=list[bool], repr=False)

    @property
    def agent(self) -> OwnAgent:
        """The agent."""
        assert self.body is not None
        return self.body

    async def initialize(self, tool_names: tuple[str, ...]) -> None:
        """Initialize the agent, unless it has been."""
        async with self.ready:
            if not self.begun:
                needs = frozenset(self.agent.needs)
                await self.agent.initialize(AgentRuntime(needs, tool_names if "tools" in needs else ()))
                self.begun.append(True)

    async def destroy(self) -> None:
        """Destroy the agent, if it was initialized."""
        async with self.ready:
            if self.begun:
                self.begun.clear()
                await self.agent.destroy()


@dataclass(frozen=True, slots=True)
class Other:
    """An agent that an agent of one's own may ask."""

    model: str
    system: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnGrant:
    """An agent of one's own in a run: the names of the tools that it may use itself, and the agents it may ask.

    `barred`: the agents that it may not ask for this principal.
    """

    spec: OwnSpec
    tools: tuple[str, ...]
    others: Mapping[str, Other]
    barred: frozenset[str] = frozenset()


def agent(declared: Any) -> OwnSpec:
    """Make an agent of a class, of which one object is made without arguments, or of an object.

    It has `name`, `needs`, `initialize`, `invoke` and `destroy`; and `tools`, unless all that are registered are its;
    and `roles`, unless everybody may use it.

    Raises:
        ConfigurationError: a member is missing, or a need unknown.
    """
    body = declared() if isinstance(declared, type) else declared
    kind = type(body).__name__
    missing = [each for each in _MEMBERS if not hasattr(body, each)]
    if missing:
        raise ConfigurationError(f"agent {kind} lacks {listed(missing)}")
    for need in sorted(body.needs):
        if need not in PARTS:
            raise ConfigurationError(f"agent {kind} needs '{need}'; there are {listed(PARTS)}{hint(need, PARTS)}")
    tools = getattr(body, "tools", None) if "tools" in body.needs else ()
    return OwnSpec(body.name, tools=tools, roles=getattr(body, "roles", ()), body=body)
