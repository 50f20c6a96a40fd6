"""What a run is granted: the prompt it works under, its tools, its secrets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from talaria.agents.agent import AgentSpec
from talaria.agents.granted import Granted
from talaria.agents.own import Other, OwnGrant, OwnSpec
from talaria.agents.prompt import system_prompt
from talaria.core.errors import Forbidden, InvalidRequest
from talaria.core.external import split_secrets
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.fetch import Fetcher
from talaria.journal.entries import TurnStarted
from talaria.journal.letters import TurnBody
from talaria.journal.state import SessionState
from talaria.policy.policy import Policy
from talaria.ports.model import ToolSpec
from talaria.runtime.answers import BY_TOOL, answer_spec, stand_in
from talaria.runtime.attachments import Attachments, Handed
from talaria.runtime.catalog import Catalog, needs_sandbox
from talaria.runtime.sandboxes import Sandboxes
from talaria.runtime.secrets import Secrets
from talaria.runtime.skills import Skills
from talaria.runtime.subagent_grants import Offered, SubagentGrants, with_skills
from talaria.tools.ask_user import ASK_USER
from talaria.tools.consent import CONSENT
from talaria.tools.declaration import Tool
from talaria.tools.sources.external import external_tool

Tools = tuple[Tool[..., Any], ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """What runs reach besides tools: the sessions' sandboxes, skills, and what a request's tools ask for."""

    sandboxes: Sandboxes
    skills: Skills
    fetcher: Fetcher


@dataclass(frozen=True, slots=True)
class Harness:
    """What every turn gets of the harness itself: its system prompt, tools where there are others, deep tasks."""

    prompt: str
    tools: Tools
    max_depth: int


class CatalogGrants:
    """Grants out of the catalog; `policy` is the deployment's.

    Every turn that has tools has the harness's, too, last of the deployment's: the list must not change while a session
    goes on.
    """

    def __init__(
        self,
        catalog: Catalog,
        secrets: Secrets,
        attachments: Attachments,
        reach: Reach,
        harness: Harness,
        policy: Policy,
    ) -> None:
        self._below = SubagentGrants(harness.prompt, policy, harness.max_depth, reach.skills.files)
        self._files = reach.skills.files
        self._catalog = catalog
        self._secrets = secrets
        self._attachments = attachments
        self._sandboxes = reach.sandboxes
        self._fetcher = reach.fetcher
        self._harness = harness.prompt
        self._builtin = harness.tools
        self._policy = policy

    def context(self, turn: TurnBody) -> tuple[str, tuple[ToolSpec, ...]]:
        """The system prompt and the tools that the model sees in this turn.

        Raises:
            InvalidRequest: the agent or a tool is not registered (any more).
        """
        agent = self._catalog.agent(turn.agent)
        mine = with_skills(self._all(agent, turn, {}), self._skills(agent, turn.skills), self._files)
        mine = (*mine, *self._below.tools(self._offered(agent, turn.subagents)))
        specs = tuple(tool.spec for tool in mine if self._policy.may_call(tool, turn.principal))
        system = system_prompt(self._harness, agent.instructions, turn.system)
        output = turn.output
        if output is None or not output.tool:
            return system, specs
        return f"{system}\n\n{BY_TOOL.format(output.tool)}", (*specs, answer_spec(output))

    async def attached(self, turn: TurnBody, state: SessionState) -> Handed:
        """What the turn's message gets of its attachments: places in the workspace, if the turn's tools work there."""
        if not turn.attachments:
            return Handed()
        placed = self._has_workspace(turn)
        earlier, limit = state.prompt.messages, turn.limits.result_limit
        return await self._attachments.handed(turn.attachments, turn.principal, earlier, placed=placed, limit=limit)

    def _has_workspace(self, turn: TurnBody) -> bool:
        try:
            tools = self._tools(self._catalog.agent(turn.agent), turn.tools)
        except InvalidRequest:  # it has gone since; the run ends with that error
            return False
        return any(needs_sandbox(tool) for tool in tools)

    async def granted(self, turn: TurnStarted, principal: Principal, session: SessionKey) -> Granted:
        """What the run may use.

        Raises:
            InvalidRequest: the agent or a tool is not registered (any more).
            Forbidden: the principal may not use the agent (any more).
            SecretsLost: the run came with secrets, and nobody can read them any more.
        """
        agent = self._catalog.agent(turn.agent)
        if not agent.admits(principal):  # its roles are others than when the turn was admitted
            raise Forbidden(f"agent '{agent.name}' asks for a role that you do not have")
        secrets, kept = split_secrets(await self._secrets.of(turn, principal.tenant) or {})
        tools = self._all(agent, turn, kept)
        own = None
        if isinstance(agent, OwnSpec):
            own, tools = self._own(agent, turn, tools, principal)
        offered, skills = self._offered(agent, turn.subagents), self._skills(agent, turn.skills)
        tools = (*with_skills(tools, skills, self._files), *self._below.tools(offered))
        granted = Granted(
            tools,
            secrets=secrets,
            kept=kept,
            principal=principal,
            deps=agent.deps,
            policy=self._policy.of_run(tools, principal, agent.name),
            answer=None if turn.output is None else stand_in(turn.output, self._catalog.output_type(agent.name)),
            sandbox=self._sandboxes.door(session, secrets),
            own=own,
        )
        if not offered:
            return granted
        return replace(granted, subagents=self._below.below(granted, Offered(offered, skills), agent.name))

    def _offered(self, agent: AgentSpec, brought: Sequence[Subagent]) -> tuple[Subagent, ...]:
        """The agent's subagents and the request's, whose names count first; agents of one's own call agents."""
        if isinstance(agent, OwnSpec):
            return ()
        its = self._catalog.subagents if agent.subagents is None else agent.subagents
        return tuple({each.name: each for each in (*its, *brought)}.values()) if its or brought else ()

    def _skills(self, agent: AgentSpec, brought: Sequence[Skill]) -> tuple[Skill, ...]:
        """The agent's skills and the request's, whose names count first; agents of one's own have none."""
        if isinstance(agent, OwnSpec):
            return ()
        return tuple({each.name: each for each in (*self._catalog.skills_of(agent), *brought)}.values())

    def _own(self, spec: OwnSpec, turn: TurnStarted, tools: Tools, principal: Principal) -> tuple[OwnGrant, Tools]:
        """What an agent of one's own is granted, and the run's tools: also those that its parts go through."""
        needs, others, barred = spec.agent.needs, dict[str, Other](), set[str]()
        known = {tool.name: tool for tool in tools}
        for each in self._catalog.agents if "agents" in needs else ():
            if not each.admits(principal):
                barred.add(each.name)
            elif not isinstance(each, OwnSpec) and each.deps is None:
                its = {tool.name: tool for tool in self._tools(each, turn.tools)}
                others[each.name] = Other(each.model, system_prompt(self._harness, each.instructions, ""), tuple(its))
                known |= its
        if "approvals" in needs:
            known |= {each.name: each for each in (CONSENT, ASK_USER)}
        its_own = tuple(tool.name for tool in tools)
        return OwnGrant(spec, its_own, others, frozenset(barred)), tuple(known.values())

    def _all(self, agent: AgentSpec, turn: TurnBody | TurnStarted, kept: Mapping[str, str]) -> Tools:
        """The tools of a turn, those that it brought last; `kept`: the secrets of these."""
        brought = tuple(external_tool(each, kept, self._fetcher) for each in turn.external)
        mine = self._tools(agent, turn.tools)
        return (*(mine or (self._builtin if brought else ())), *brought)

    def _tools(self, agent: AgentSpec, allow: Sequence[str] | None) -> Tools:
        chosen = self._catalog.tools(agent, allow, sandboxes=self._sandboxes.is_offered)
        if not chosen:
            return ()
        names = {tool.name.casefold() for tool in chosen}
        return (*chosen, *(tool for tool in self._builtin if tool.name not in names))
