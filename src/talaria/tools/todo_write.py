"""TodoWrite: the built-in tool with which a model keeps a plan, and is told which step is to be done now."""

from typing import Any

from talaria.core.plan import LONGEST_STEP, MOST_STEPS, read_plan, told
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

UNCHANGED = "The plan is as it was."


async def _write(ctx: ToolContext, todos: list[dict[str, Any]]) -> str:
    """Keep the plan; what comes back names the step under way, once for each change."""
    plan = read_plan(todos)
    return told(plan) if ctx.keep_plan is None or ctx.keep_plan(plan) else UNCHANGED


TODO_WRITE: Tool[..., Any] = Tool(
    "TodoWrite",
    "Keep a plan for a task of three or more steps; the user sees it. Write it once, before the first step, then again "
    "each time a step is completed: always the whole list, with exactly one step in_progress, until all are completed.",
    {
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "maxItems": MOST_STEPS,
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": LONGEST_STEP,
                            "description": "What is to be done: 'Read the orders'.",
                        },
                        "activeForm": {
                            "type": "string",
                            "maxLength": LONGEST_STEP,
                            "description": "The same while it is under way: 'Reading the orders'.",
                        },
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                    },
                    "required": ["content", "status"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["todos"],
        "additionalProperties": False,
    },
    _write,
    group="plan",
    side_effects=False,
    parallel=False,
    source="builtin",
)
"""Calls of it keep the model's order: the last one counts."""
