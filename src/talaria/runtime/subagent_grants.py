"""What the subagents of a run are granted: a prompt of their own, and no more than who calls them has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from talaria.agents import granted
from talaria.agents.granted import Granted
from talaria.agents.prompt import system_prompt
from talaria.core.subagents import Subagent
from talaria.policy.policy import Policy
from talaria.ports.model import ToolSpec
from talaria.tools.declaration import Tool
from talaria.tools.subagents import TASK_OUTPUT, task_tool

Tools = tuple[Tool[..., Any], ...]

NO_FILES = "You have no files and no shell here: work with what you are told and with the tools that you have."


class SubagentGrants:
    """`harness` is the harness's system prompt; tasks go `max_depth` deep."""

    def __init__(self, harness: str, policy: Policy, max_depth: int) -> None:
        self.harness = harness
        self.policy = policy
        self._max_depth = max_depth

    def tools(self, offered: Sequence[Subagent], depth: int = 0) -> Tools:
        """The tools with which an agent at this depth gives tasks; none where there is nobody, or too deep."""
        if not offered or depth >= self._max_depth:
            return ()
        return (task_tool(tuple((each.name, each.description) for each in offered)), TASK_OUTPUT)

    def below(
        self, caller: Granted, offered: Sequence[Subagent], agent: str, depth: int = 0
    ) -> Mapping[str, granted.Subagent]:
        """The subagents that `caller` may give tasks to; `agent` is that of the run."""
        if depth >= self._max_depth:
            return {}
        return {each.name: self._subagent(caller, each, offered, agent, depth + 1) for each in offered}

    def _subagent(
        self, caller: Granted, spec: Subagent, offered: Sequence[Subagent], agent: str, depth: int
    ) -> granted.Subagent:
        tools = (*_chosen(spec, caller.tools), *self.tools(offered, depth))

        def grant() -> Granted:
            policy = self.policy.of_run(tools, caller.principal, agent)
            mine = replace(caller, tools=tools, policy=policy, answer=None)
            return replace(mine, subagents=self.below(mine, offered, agent, depth))

        def specs() -> tuple[ToolSpec, ...]:
            return tuple(tool.spec for tool in tools if self.policy.may_call(tool, caller.principal))

        return granted.Subagent(
            name=spec.name,
            description=spec.description,
            system=system_prompt(self.harness, spec.instructions, "" if caller.sandbox is not None else NO_FILES),
            model=spec.model,
            max_rounds=spec.max_turns,
            grant=grant,
            specs=specs,
        )


def _chosen(spec: Subagent, tools: Sequence[Tool[..., Any]]) -> Tools:
    """Its list less what it may not have, of what its caller has."""
    able = [tool for tool in tools if tool.name not in ("Task", TASK_OUTPUT.name) and not _named(tool, spec.disallowed)]
    return tuple(tool for tool in able if spec.tools is None or _named(tool, spec.tools))


def _named(tool: Tool[..., Any], names: Sequence[str]) -> bool:
    return tool.name in names or (bool(tool.group) and f"group:{tool.group}" in names)
