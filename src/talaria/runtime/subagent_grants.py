"""What the subagents of a run are granted: a prompt of their own, and no more than who calls them has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from talaria.agents import granted
from talaria.agents.granted import Granted
from talaria.agents.prompt import system_prompt
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.policy.policy import Policy
from talaria.ports.model import ToolSpec
from talaria.runtime.catalog import needs_sandbox
from talaria.skills.tool import SKILL, Files, skill_tool
from talaria.tools.declaration import Tool
from talaria.tools.subagents import TASK_OUTPUT, task_tool

Tools = tuple[Tool[..., Any], ...]

NO_FILES = "You have no files and no shell here: work with what you are told and with the tools that you have."


class Offered(NamedTuple):
    """The subagents of a run, and the skills that they may have of it."""

    subagents: Sequence[Subagent]
    skills: Sequence[Skill] = ()


def with_skills(tools: Tools, skills: Sequence[Skill], files: Files) -> Tools:
    """The tools, and the one that loads these skills where there are any."""
    if not skills:
        return tools
    has_workspace = any(needs_sandbox(tool) for tool in tools)
    return (*tools, skill_tool(skills, files, [tool.name for tool in tools], has_workspace=has_workspace))


class SubagentGrants:
    """`harness` is the harness's system prompt; tasks go `max_depth` deep."""

    def __init__(self, harness: str, policy: Policy, max_depth: int, files: Files) -> None:
        self._files = files
        self._harness = harness
        self._policy = policy
        self._max_depth = max_depth

    def tools(self, offered: Sequence[Subagent], depth: int = 0) -> Tools:
        """The tools with which an agent at this depth gives tasks; none where there is nobody, or too deep."""
        if not offered or depth >= self._max_depth:
            return ()
        return (task_tool(tuple((each.name, each.description) for each in offered)), TASK_OUTPUT)

    def below(self, caller: Granted, offered: Offered, agent: str, depth: int = 0) -> Mapping[str, granted.Subagent]:
        """The subagents that `caller` may give tasks to; `agent` is that of the run."""
        if depth >= self._max_depth:
            return {}
        return {each.name: self._subagent(caller, each, offered, agent, depth + 1) for each in offered.subagents}

    def _subagent(self, caller: Granted, spec: Subagent, offered: Offered, agent: str, depth: int) -> granted.Subagent:
        skills = [each for each in offered.skills if each.name in spec.skills]
        mine = with_skills(_chosen(spec, caller.tools), skills, self._files)
        tools = (*mine, *self.tools(offered.subagents, depth))
        alone = "" if any(needs_sandbox(tool) for tool in tools) else NO_FILES

        def grant() -> Granted:
            policy = self._policy.of_run(tools, caller.principal, agent)
            its = replace(caller, tools=tools, policy=policy, answer=None)
            return replace(its, subagents=self.below(its, offered, agent, depth))

        def specs() -> tuple[ToolSpec, ...]:
            return tuple(tool.spec for tool in tools if self._policy.may_call(tool, caller.principal))

        return granted.Subagent(
            name=spec.name,
            description=spec.description,
            system=system_prompt(self._harness, spec.instructions, alone),
            model=spec.model,
            max_rounds=spec.max_turns,
            grant=grant,
            specs=specs,
        )


def _chosen(spec: Subagent, tools: Sequence[Tool[..., Any]]) -> Tools:
    """Its list less what it may not have, of what its caller has."""
    able = [
        tool
        for tool in tools
        if tool.name not in ("Task", TASK_OUTPUT.name, SKILL.name) and not _named(tool, spec.disallowed)
    ]
    return tuple(tool for tool in able if spec.tools is None or _named(tool, spec.tools))


def _named(tool: Tool[..., Any], names: Sequence[str]) -> bool:
    return tool.name in names or (bool(tool.group) and f"group:{tool.group}" in names)
