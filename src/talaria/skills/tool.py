"""Skill: the tool with which a model loads one of the skills that it was told of."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from talaria.core.errors import InvalidRequest
from talaria.core.skills import Skill
from talaria.ports.sandbox import Sandbox
from talaria.skills.files import Entries
from talaria.skills.placing import place, place_of
from talaria.skills.skill_file import FILE, read_skill_file
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

NAME = "Skill"
MOST_LISTED = 100
LONGEST = 60_000
"""Characters of what it returns."""
Files = Callable[[Skill], Awaitable[Entries]]


def skill_tool(
    offered: Sequence[Skill], files: Files, tools: Collection[str], *, has_workspace: bool
) -> Tool[..., Any]:
    """Make the tool. `tools`: what else the run has; `has_workspace`: some of them work in the session's sandbox."""
    known = {each.name: each for each in offered}

    async def load(name: str, ctx: ToolContext) -> str:
        skill = known.get(name)
        if skill is None:
            raise InvalidRequest(f"there is no skill '{name[:80]}'; there are {', '.join(known)}")
        entries = await files(skill)
        sandbox = ctx.sandbox if has_workspace else None
        body = (await asyncio.to_thread(read_skill_file, entries[FILE].data)).body
        where = await _where(skill, entries, sandbox)
        return "\n".join((f"Skill '{skill.name}'.", *where, *_needs(skill, tools), "", body))

    listed = "\n".join(f"- {each.name}: {each.description}" for each in offered)
    return Tool(
        NAME,
        "Load a skill: instructions, perhaps with files, for one kind of work. Where one fits the task, load it before "
        f"you begin, and follow it.\nSkills:\n{listed}",
        {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": list(known)}},
            "required": ["name"],
            "additionalProperties": False,
        },
        load,
        side_effects=False,
        timeout=120,
        result_limit=LONGEST,
        breaker=False,
        source="builtin",
    )


async def _nothing(_: Skill) -> Entries:
    return {}


SKILL = skill_tool((), _nothing, (), has_workspace=False)
"""For what is said about it in the configuration: it differs from run to run."""


async def _where(skill: Skill, entries: Entries, sandbox: Sandbox | None) -> list[str]:
    """Say where its files are, having put them there."""
    others = sorted(set(entries) - {FILE})
    if not others:
        return []
    if sandbox is None:
        return [f"It has {len(others)} more files, which cannot be opened here: there is no workspace."]
    note = await place(sandbox, skill.name, entries)
    shown = [*others[:MOST_LISTED], *(["…"] if len(others) > MOST_LISTED else [])]
    said = [f"Its files are in {place_of(skill.name)}, read-only; paths in it are relative to that folder:"]
    return [*said, *(f"- {each}" for each in shown), *([note] if note else [])]


def _needs(skill: Skill, tools: Collection[str]) -> list[str]:
    """Say what it asks for: it gets no tool by that, and nobody's consent."""
    said = [f"It says that it needs: {skill.compatibility}"] if skill.compatibility else []
    lacking = sorted({each.split("(")[0] for each in skill.allowed} - set(tools))
    return [*said, *([f"It names tools that you do not have: {', '.join(lacking)}. Do without."] if lacking else [])]
