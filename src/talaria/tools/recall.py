"""recall: the built-in tool with which a model reads the rest of a result that was too long for it."""

from typing import Any

from talaria.core.errors import InvalidRequest
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

RECALL = "recall"
HEADER = 200
"""More than the characters of the line before a slice."""


class Recall:
    """Returns at most `most` characters of the whole of an earlier result in this session."""

    def __init__(self, most: int) -> None:
        self._most = most

    async def __call__(self, call_id: str, ctx: ToolContext, offset: int = 0, limit: int | None = None) -> str:
        """Return the characters from `offset` on, after a line that says which they are.

        Raises:
            InvalidRequest: the session has no such result, or it ends before `offset`.
        """
        text = None if ctx.whole is None else await ctx.whole(call_id)
        if text is None:
            raise InvalidRequest(f"no shortened result of a call '{call_id[:80]}' in this session")
        if offset >= len(text):
            raise InvalidRequest(f"the result has {len(text)} characters; offset must be less")
        end = min(len(text), offset + min(limit or self._most, self._most))
        rest = f"; go on with offset {end}" if end < len(text) else ", its end"
        return f"[characters {offset} to {end} of {len(text)}{rest}]\n{text[offset:end]}"


def recall_tool(most: int) -> Tool[..., Any]:
    """Make the tool; `most` is the limit of results in characters."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            "call_id": {"type": "string", "description": "As the shortened result names it."},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Characters to skip."},
            "limit": {"type": "integer", "minimum": 1, "description": f"Characters to return, at most {most}."},
        },
        "required": ["call_id"],
        "additionalProperties": False,
    }
    description = "Read what was left out of a tool result of this session that was too long to be shown whole."
    return Tool(
        RECALL, description, parameters, Recall(most), side_effects=False, result_limit=most + HEADER, source="builtin"
    )


def is_recall(tool: Tool[..., Any] | None) -> bool:
    """Whether this is the built-in tool, and not another one of its name."""
    return tool is not None and isinstance(tool.fn, Recall)
