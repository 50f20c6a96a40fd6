"""ExportArtifact: a file of the workspace, handed to the user."""

import posixpath
from collections.abc import AsyncIterator
from typing import Any

from talaria.ports.sandbox import Sandbox
from talaria.tools.builtin.places import full, read_at_most, sandbox_of
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

PIECE = 1024 * 1024


async def export(file_path: str, ctx: ToolContext, name: str | None = None) -> str:
    """Keep a copy of the file for the user, and say what it is."""
    sandbox = sandbox_of(ctx)
    first = await read_at_most(sandbox, file_path, PIECE)
    saved = await ctx.save_file(name or posixpath.basename(full(file_path)), _pieces(sandbox, file_path, first))
    return f"The user has {saved.name} now ({saved.media_type}, {saved.size} bytes), as artifact {saved.id}."


async def _pieces(sandbox: Sandbox, path: str, piece: bytes) -> AsyncIterator[bytes]:
    at = 0
    while piece:
        yield piece
        at += len(piece)
        piece = await sandbox.read(path, at, PIECE)


EXPORT: Tool[..., Any] = Tool(
    "ExportArtifact",
    "Hand the user a file from /workspace: a picture, a document, a page to look at. They get a copy as it is now.",
    {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "minLength": 1, "description": "Absolute, or relative to /workspace."},
            "name": {"type": "string", "minLength": 1, "description": "What it is called; the file's name if absent."},
        },
        "required": ["file_path"],
        "additionalProperties": False,
    },
    export,
    group="files",
    outside=False,
    breaker=False,
    source="builtin",
)
