"""Task and TaskOutput: the tools with which a model gives work to subagents."""

from collections.abc import Sequence
from typing import Any

from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

NO_LIMIT = 7 * 24 * 3600.0
"""Seconds: a task ends with its run at the latest, which has a limit of its own."""
LONGEST_WAIT = 600.0


async def _task(
    ctx: ToolContext, description: str, prompt: str, subagent_type: str, *, run_in_background: bool = False
) -> str:
    assert ctx.subagents is not None
    return await ctx.subagents.start(subagent_type, prompt, description, background=run_in_background)


async def _output(ctx: ToolContext, task_id: str, *, block: bool = True, timeout: float = 60) -> str:
    assert ctx.subagents is not None
    return await ctx.subagents.output(task_id, block=block, seconds=timeout)


def task_tool(offered: Sequence[tuple[str, str]]) -> Tool[..., Any]:
    """The tool that gives a task to one of the subagents that are offered, each with its name and what it is for."""
    listed = "\n".join(f"- {name}: {' '.join(about.split())}" for name, about in offered)
    return Tool(
        "Task",
        "Give a task to a subagent. It works on its own, sees nothing of this conversation but your prompt, and "
        "answers once. Several calls in one message work side by side. The user does not see its answer: say what "
        f"matters.\nSubagents:\n{listed}",
        {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The task in three to five words."},
                "prompt": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The whole task: what to find out or do, what is known, and what to answer with.",
                },
                "subagent_type": {"type": "string", "enum": [name for name, _ in offered]},
                "run_in_background": {
                    "type": "boolean",
                    "default": False,
                    "description": "Do not wait: answers with a task id for TaskOutput. It ends with this turn.",
                },
            },
            "required": ["description", "prompt", "subagent_type"],
            "additionalProperties": False,
        },
        _task,
        side_effects=False,
        timeout=NO_LIMIT,
        source="builtin",
    )


TASK_OUTPUT: Tool[..., Any] = Tool(
    "TaskOutput",
    "Get what a task in the background has come to.",
    {
        "type": "object",
        "properties": {
            "task_id": {"type": "string", "minLength": 1},
            "block": {"type": "boolean", "default": True, "description": "Wait for its end."},
            "timeout": {
                "type": "number",
                "minimum": 0,
                "maximum": LONGEST_WAIT,
                "default": 60,
                "description": "Seconds to wait at most.",
            },
        },
        "required": ["task_id"],
        "additionalProperties": False,
    },
    _output,
    side_effects=False,
    timeout=NO_LIMIT,
    source="builtin",
)
"""What it returns is what its subagent said."""

TASK_TOOLS = (task_tool(()), TASK_OUTPUT)
"""For what is said about them in the configuration: the first one differs from run to run."""
