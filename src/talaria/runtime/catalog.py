"""The agents and tools of this deployment, and what each turn gets of them."""

import sys
import traceback
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from talaria.agents.agent import AgentSpec
from talaria.core.errors import ConfigurationError, InvalidRequest
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.runtime.databases import make_sources
from talaria.runtime.settings import Settings
from talaria.runtime.skills import Configured, load_skills
from talaria.runtime.subagents import load_subagents
from talaria.tools.ask_user import ASK_USER
from talaria.tools.builtin.background import Background
from talaria.tools.builtin.code import code_tools
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.memory import MEMORY_TOOL
from talaria.tools.methods import tools_of
from talaria.tools.nearest import suggestion
from talaria.tools.own_stages import OwnStage
from talaria.tools.registry import Registry
from talaria.tools.todo_write import TODO_WRITE

if TYPE_CHECKING:  # only agents that have a type for their answers wait for pydantic, only databases for a parser
    from talaria.tools.builtin.databases import Source
    from talaria.tools.output_type import OutputType

DEFAULT_AGENT = "assistant"
IN_SANDBOX = frozenset(("code", "files"))
"""The groups of the built-in tools that work in the session's sandbox."""
BY_NAME = (TODO_WRITE, MEMORY_TOOL)
"""Built-in tools for agents, or requests, that name them."""


class Catalog:
    """Agents by name, one registry of tools, the stages of one's own. The first configured agent is the default."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.stages: tuple[OwnStage, ...] = ()
        self.subagents: tuple[Subagent, ...] = ()
        self.databases: dict[str, Source] = {}
        self.skills: Configured = {}
        self._agents: dict[str, AgentSpec] = {}
        self._types: dict[str, OutputType] = {}

    def add_agent(self, agent: AgentSpec) -> None:
        """Register an agent and its tools; the same name again replaces the agent.

        Raises:
            ConfigurationError: its output_type has no JSON Schema.
        """
        if self._agents.get(agent.name) is agent:
            return
        self._types.pop(agent.name, None)
        if agent.output_type is not None:
            from talaria.tools.output_type import read_type  # noqa: PLC0415 - see above

            self._types[agent.name] = read_type(agent.output_type, agent.name)
        for tool in agent.chosen or ():
            if isinstance(tool, Tool):
                self.registry.add(tool)
        self._agents[agent.name] = agent

    def add_tools(self, tools: Iterable[object]) -> None:
        """Register tools, and those of objects whose methods are tools."""
        for tool in tools_of(tools):
            if isinstance(tool, str):
                raise ToolInvalid(f"tools: '{tool}' is a name; give the tool itself")
            self.registry.add(tool)

    @property
    def agents(self) -> tuple[AgentSpec, ...]:
        """All agents, the default one first."""
        return tuple(self._agents.values())

    def agent(self, name: str | None) -> AgentSpec:
        """Return the agent of this name, or the default one.

        Raises:
            InvalidRequest: there is no such agent.
        """
        if name is None:
            return next(iter(self._agents.values()), AgentSpec(DEFAULT_AGENT))
        if name in self._agents:
            return self._agents[name]
        if name == DEFAULT_AGENT and not any(agent.roles for agent in self.agents):
            return AgentSpec(DEFAULT_AGENT)
        raise InvalidRequest(f"no agent named '{name[:80]}'{suggestion(name, self._agents)}")

    def named_subagents(self, where: str, names: Sequence[str]) -> tuple[Subagent, ...]:
        """The configured subagents of these names.

        Raises:
            ConfigurationError: there is none of a name.
        """
        known = {each.name: each for each in self.subagents}
        for name in names:
            if name not in known:
                raise ConfigurationError(f"{where}.subagents: no subagent named '{name}'{suggestion(name, known)}")
        return tuple(known[name] for name in names)

    def skills_of(self, agent: AgentSpec) -> tuple[Skill, ...]:
        """The configured skills that this agent has.

        Raises:
            ConfigurationError: there is none of a name.
        """
        for name in agent.skills or ():
            if name not in self.skills:
                where = f"agents.{agent.name}.skills"
                raise ConfigurationError(f"{where}: no skill named '{name}'{suggestion(name, self.skills)}")
        names = self.skills if agent.skills is None else dict.fromkeys(agent.skills)
        return tuple(self.skills[name][0] for name in names)

    def output_type(self, name: str) -> "OutputType | None":
        """The type that this agent's answers have, if it is not text."""
        return self._types.get(name)

    def tools(
        self, agent: AgentSpec, allow: Sequence[str] | None, *, sandboxes: bool = True
    ) -> tuple[Tool[..., Any], ...]:
        """Return what a turn of this agent may use, where the request allows `allow` (None: all of the agent's).

        Without `sandboxes` there are none of the tools that need one. Where nobody chose, an agent that somebody has
        defined gets none of them, nobody what is in `BY_NAME`, and asking the user comes beside other tools only: not
        every model can call tools.

        Raises:
            InvalidRequest: a name is unknown.
        """
        own = None if agent.chosen is None else [t.name if isinstance(t, Tool) else t for t in agent.chosen]
        found = self.registry.select(allow, own)
        nobody_chose = allow is None and own is None
        if not sandboxes or (nobody_chose and agent.name in self._agents):
            found = tuple(tool for tool in found if not needs_sandbox(tool))
        if nobody_chose:
            found = tuple(tool for tool in found if tool not in BY_NAME)
        return () if nobody_chose and found == (ASK_USER,) else found


def load_catalog(
    settings: Settings, agents: Sequence[AgentSpec], tools: Sequence[object], stages: Sequence[OwnStage] = ()
) -> Catalog:
    """Register what is in the plugins, the program's own tools, then the configured agents and the program's.

    Raises:
        ConfigurationError: a plugin cannot be imported, or a name in an agent's tools matches nothing.
    """
    if settings.plugins or any(":" in each.dialect for each in settings.models):
        _look_here()
    catalog = Catalog()
    catalog.add_tools(tools)
    catalog.stages = tuple(stages)
    brought = _add_plugins(catalog, settings.plugins)
    catalog.registry.add(ASK_USER)
    for tool in (*_code_tools(settings), *BY_NAME):
        if not catalog.registry.has(tool.name):  # a program's own tool of that name is the one that is meant
            catalog.registry.add(tool)
    _add_databases(catalog, settings)
    catalog.subagents = load_subagents(settings.subagents.paths, builtin=settings.subagents.builtin)
    catalog.skills = load_skills(settings.skills.paths)
    for each in settings.agents:
        if each.name in {agent.name for agent in catalog.agents}:
            raise ConfigurationError(f"agents: there are two agents named '{each.name}'; give one another name")
        chosen = None if each.subagents is None else catalog.named_subagents(f"agents.{each.name}", each.subagents)
        catalog.add_agent(
            AgentSpec(
                each.name,
                each.model,
                each.instructions,
                each.tools,
                roles=tuple(each.roles),
                subagents=chosen,
                skills=each.skills,
            )
        )
    for agent in (*agents, *brought):
        catalog.add_agent(agent)
    for agent in catalog.agents:
        catalog.skills_of(agent)
        try:
            catalog.tools(agent, None)
        except InvalidRequest as error:
            raise ConfigurationError(f"agents.{agent.name}.tools: {error.message}") from error
    return catalog


def needs_sandbox(tool: Tool[..., Any]) -> bool:
    """Whether this is a built-in tool that works in the session's sandbox."""
    return tool.source == "builtin" and tool.group in IN_SANDBOX


def _code_tools(settings: Settings) -> tuple[Tool[..., Any], ...]:
    """The tools that work in sandboxes, unless there are none."""
    if settings.sandbox.kind == "none":
        return ()
    limits, reaches_out = settings.limits, settings.sandbox.network == "egress"
    return code_tools(
        Background(), timeout=limits.tool_timeout, result_limit=limits.tool_result_limit, reaches_out=reaches_out
    )


def _add_databases(catalog: Catalog, settings: Settings) -> None:
    """Register the tools for data, where there are databases."""
    if not settings.databases:
        return
    from talaria.tools.builtin.databases import data_tools  # noqa: PLC0415 - see above

    catalog.databases = make_sources(settings.databases)
    for tool in data_tools(catalog.databases, settings.limits.tool_result_limit):
        catalog.registry.add(tool)


def _add_plugins(catalog: Catalog, names: Iterable[str]) -> list[AgentSpec]:
    """Register the tools and stages of plugins; return their agents."""
    brought: list[AgentSpec] = []
    for name in names:
        for value in _import(name):
            if isinstance(value, Tool):
                catalog.registry.add(cast("Tool[..., Any]", value))
            elif isinstance(value, AgentSpec):
                brought.append(value)
            elif isinstance(value, OwnStage):
                catalog.stages += (value,)
    return brought


def _look_here() -> None:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # a console script does not look where it was started


def _import(name: str) -> list[object]:
    """What a plugin module has."""
    try:
        return list(vars(import_module(name)).values())
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"plugins: cannot import '{name}': {error}; put it where talaria is started, or install it"
        ) from error
    except ConfigurationError as error:
        raise ConfigurationError(f"plugins: '{name}': {error.message}") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}{_where(error)}"
        raise ConfigurationError(f"plugins: cannot import '{name}': {said}") from error


def _where(error: Exception) -> str:
    """The line of the plugin that failed; none where it could not be read, which such an error says itself."""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename != __file__ and "importlib" not in frame.filename:
            return f" ({frame.filename}, line {frame.lineno})"
    return ""
