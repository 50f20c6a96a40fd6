"""Glob and Grep: files by name, and text in files. The search runs in the sandbox, so that it can be ended."""

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any

from talaria.core.errors import InvalidRequest, TalariaError
from talaria.core.text import valid_text
from talaria.ports.sandbox import Command
from talaria.tools.builtin.places import sandbox_of
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

SECONDS = 30.0
MOST_FILES = 100
MOST_LINES = 250
MOST_BYTES = 4 * 1024 * 1024


async def glob(pattern: str, ctx: ToolContext, path: str = "") -> str:
    """Return the names of files that fit, those that changed last before others."""
    asked = {"do": "glob", "pattern": pattern, "path": path, "limit": MOST_FILES}
    return await _search(ctx, asked, "no file fits")


async def grep(pattern: str, ctx: ToolContext, path: str = "", glob: str = "", **how: Any) -> str:
    """Return where the pattern is found."""
    context = how.get("context", 0)
    asked = {
        "do": "grep",
        "pattern": pattern,
        "path": path,
        "glob": glob,
        "output_mode": how.get("output_mode", "files_with_matches"),
        "ignore_case": how.get("ignore_case", False),
        "multiline": how.get("multiline", False),
        "before": how.get("before", context),
        "after": how.get("after", context),
        "limit": how.get("head_limit", MOST_LINES),
    }
    return await _search(ctx, asked, "nothing is found")


async def _search(ctx: ToolContext, asked: dict[str, Any], nothing: str) -> str:
    source = await asyncio.to_thread(_source)
    command = Command(
        argv=["python3", "-I", "-S", "-c", source],
        stdin=json.dumps(asked).encode(),
        timeout=SECONDS,
        head=MOST_BYTES,
        tail=1,
    )
    exited = await sandbox_of(ctx).exec(command)
    if exited.reason == "timeout":
        raise InvalidRequest(f"the search takes longer than {SECONDS:g} s; look in fewer files, or for a simpler pattern")
    found = _found(exited.head, exited.exit_code)
    if "error" in found:
        raise InvalidRequest(valid_text(found["error"]))
    lines: list[str] = found["lines"]
    rest = found["all"] - len(lines)
    note = f"\n[{rest} more; look for something narrower to see them]" if rest else ""
    return valid_text("\n".join(lines)) + note if lines else f"[{nothing}]"


def _found(said: bytes, code: int) -> dict[str, Any]:
    """What the search wrote: it runs where anything may have been done to it."""
    try:
        found = json.loads(said)
        if isinstance(found, dict) and ("error" in found or isinstance(found["lines"], list) + isinstance(found["all"], int) == 2):
            return found
    except (ValueError, KeyError):
        pass
    raise InvalidRequest(f"the search failed in the sandbox with exit code {code}; is python3 in order there?")
