"""Write: a file of the workspace, made or replaced as a whole."""

from typing import Any

from talaria.tools.builtin.places import full, sandbox_of
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool


async def write(file_path: str, content: str, ctx: ToolContext) -> str:
    """Write the file and say what is in it now."""
    data = content.encode("utf-8", "replace")
    await sandbox_of(ctx).write(file_path, data)
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    return f"Wrote {full(file_path)}: {lines} {'line' if lines == 1 else 'lines'}, {len(data)} bytes."


WRITE: Tool[..., Any] = Tool(
    "Write",
    "Write a text file in /workspace, with the folders on the way to it. What was in it is replaced; to change a part "
    "of a file, use Edit.",
    {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "minLength": 1, "description": "Absolute, or relative to /workspace."},
            "content": {"type": "string", "description": "All of the file's text; written as UTF-8."},
        },
        "required": ["file_path", "content"],
        "additionalProperties": False,
    },
    write,
    group="files",
    idempotent=True,
    outside=False,
    breaker=False,
    source="builtin",
)
