"""The parts as one turn gives them: each step goes through the turn, which knows what is on record."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from talaria.agents.own_parts import Consent, Metrics, Reply, ToolReply
from talaria.agents.own_turn import OwnTurn
from talaria.core.errors import Forbidden, InvalidRequest, OutputInvalid
from talaria.core.messages import AssistantMessage, Message, Text, ToolCall, ToolMessage, UserMessage
from talaria.ports.model import ToolSpec
from talaria.tools.ask_user import ASK_USER
from talaria.tools.consent import CONSENT
from talaria.tools.nearest import hint, listed


class GivenTools:
    """Those of the run's tools that an agent may use."""

    def __init__(self, turn: OwnTurn, names: tuple[str, ...]) -> None:
        self._turn = turn
        self.names = names

    async def call(self, name: str, /, **arguments: Any) -> ToolReply:
        """See the part."""
        done = await self._run(name, json.dumps(arguments, ensure_ascii=False))
        return ToolReply(done.text, done.is_error)

    async def answer(self, call: ToolCall) -> ToolMessage:
        """See the part."""
        done = await self._run(call.name, call.arguments)
        return ToolMessage(call.id, call.name, done.text, done.is_error, done.images)

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """Tools as models see them."""
        wanted = tuple(names)
        unknown = [name for name in wanted if name not in self.names]
        if unknown:
            raise InvalidRequest(f"models.ask: {self._unknown(unknown[0])}")
        session = self._turn.session
        return tuple(session.tools[name].spec for name in wanted if name not in session.policy.denied)

    async def _run(self, name: str, arguments: str) -> ToolMessage:
        if name in self._turn.session.tools and name not in self.names:  # another agent of the run has it
            return ToolMessage("", name, self._unknown(name), True)
        return await self._turn.call(name, arguments)

    def _unknown(self, name: str) -> str:
        there = f"there are {listed(self.names)}" if self.names else "there are none in this turn"
        return f"no tool named '{name[:80]}'; {there}{hint(name, self.names)}"


class GivenModels:
    """The models, with the tools that may be offered to them."""

    def __init__(self, turn: OwnTurn, tools: GivenTools) -> None:
        self._turn = turn
        self._tools = tools

    async def ask(
        self, messages: str | Sequence[Message], *, model: str = "", system: str = "", tools: Iterable[str] = ()
    ) -> AssistantMessage:
        """See the part."""
        said = (UserMessage((Text(messages),)),) if isinstance(messages, str) else messages
        return await self._turn.ask(said, model, system, self._tools.specs(tools))


class GivenApprovals:
    """The people who may decide about this run's calls."""

    def __init__(self, turn: OwnTurn) -> None:
        self._turn = turn

    async def ask(self, action: str, /, **details: Any) -> Consent:
        """See the part."""
        asked = {"action": action, "details": details}
        number = self._turn.steps + 1
        done = await self._turn.call(CONSENT.name, json.dumps(asked, ensure_ascii=False))
        made = self._turn.decision(number)
        if made is None:
            return Consent("refused", details, comment=done.text)
        if made.outcome == "edited":
            details = json.loads(made.arguments).get("details", {})
        return Consent(made.outcome, details, made.by, made.comment)

    async def question(self, text: str, /, *choices: str) -> str | None:
        """See the part."""
        number = self._turn.steps + 1
        await self._turn.call(ASK_USER.name, json.dumps({"question": text, "choices": choices}, ensure_ascii=False))
        made = self._turn.decision(number)
        return made.answer if made is not None and made.outcome == "answered" else None


class GivenAgents:
    """The other agents."""

    def __init__(self, turn: OwnTurn) -> None:
        self._turn = turn

    async def ask(self, name: str, query: str) -> Reply:
        """See the part."""
        others = self._turn.own.others
        if name in self._turn.own.barred:
            if not self._turn.is_repeating:
                self._turn.session.audit("agent.permission", "deny", subject=name, rule="agent.roles")
            raise Forbidden(f"agents.ask: agent '{name}' asks for a role that this user does not have")
        if name not in others:
            raise InvalidRequest(f"agents.ask: no agent named '{name[:80]}' can be asked; there are {listed(others)}")
        other = others[name]
        tools = GivenTools(self._turn, other.tools)
        models = GivenModels(self._turn, tools)
        messages: list[Message] = [UserMessage((Text(query),))]
        for _ in range(self._turn.session.run.turn.limits.max_rounds):
            answer = await models.ask(messages, model=other.model, system=other.system, tools=other.tools)
            if not answer.calls:
                return Reply(answer.text)
            messages += [answer, *[await tools.answer(call) for call in answer.calls]]
        raise OutputInvalid(f"agent '{name}' came to no answer; give it less to do, or raise limits.maxRounds")


class GivenMetrics:
    """The runtime's metrics."""

    def __init__(self, turn: OwnTurn) -> None:
        self._turn = turn
        self._metrics: Metrics = turn.session.means.metrics

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """See the part."""
        if not self._turn.is_repeating:
            self._metrics.count(name, amount, **labels)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """See the part."""
        if not self._turn.is_repeating:
            self._metrics.observe(name, seconds, **labels)


def given(turn: OwnTurn, needs: Iterable[str]) -> Mapping[str, Any]:
    """The parts that an agent needs, in this turn."""
    tools = GivenTools(turn, turn.own.tools)
    parts = {
        "models": GivenModels(turn, tools),
        "tools": tools,
        "approvals": GivenApprovals(turn),
        "agents": GivenAgents(turn),
        "metrics": GivenMetrics(turn),
    }
    return {name: parts[name] for name in needs}
