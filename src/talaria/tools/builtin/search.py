"""Glob and Grep: files by name, and text in files. The search runs in the sandbox, so that it can be ended."""

import asyncio
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.ports.sandbox import Command
from talaria.tools.builtin.output import noted
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
        stdin=msgspec.json.encode(asked),
        timeout=SECONDS,
        head=MOST_BYTES,
        tail=1,
    )
    exited = await sandbox_of(ctx).exec(command)
    if exited.reason == "timeout":
        raise InvalidRequest(
            f"the search takes longer than {SECONDS:g} s; look in fewer files, or for a simpler pattern"
        )
    found = _read(exited.head)
    if found.error:
        raise InvalidRequest(f"{found.error}{noted(exited)}")
    rest = found.all - len(found.lines)
    more = f"\n[{rest} more; look for something narrower to see them]" if rest > 0 else ""
    return ("\n".join(found.lines) + more if found.lines else f"[{nothing}]") + noted(exited)


class _Found(msgspec.Struct):
    """What the search writes."""

    lines: list[str] = []
    all: int = 0
    error: str = ""


def _read(said: bytes) -> _Found:
    """It runs where anything may have been done to it."""
    try:
        return msgspec.json.decode(said, type=_Found)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _Found(error="the search failed in the sandbox; is its python3 in order?")


@cache
def _source() -> str:
    return files("talaria.tools.builtin").joinpath("inside.py").read_text("utf-8")


def _parameters(required: str, **more: dict[str, Any]) -> dict[str, Any]:
    path = {"type": "string", "default": "", "description": "Where to look; /workspace if absent."}
    properties = {required: more.pop(required), "path": path, **more}
    return {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "default": False, "description": description}


def _count(description: str, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": most, "description": description}


_GLOB: dict[str, Any] = _parameters(
    "pattern",
    pattern={"type": "string", "minLength": 1, "description": "Such as *.py, src/**/*.ts or data/*.{csv,json}."},
)
_GREP: dict[str, Any] = _parameters(
    "pattern",
    pattern={"type": "string", "minLength": 1, "description": "A regular expression, as Python has them."},
    glob={"type": "string", "default": "", "description": "Only files that fit this pattern, such as *.py."},
    output_mode={
        "enum": ["files_with_matches", "content", "count"],
        "default": "files_with_matches",
        "description": "Names of files, the lines themselves with their numbers, or how many there are in each file.",
    },
    ignore_case=_flag("Letter case does not matter."),
    multiline=_flag("The pattern may go over ends of lines, and . fits those too."),
    context=_count("Lines to show before and after each match.", 50),
    before=_count("Lines to show before each match.", 50),
    after=_count("Lines to show after each match.", 50),
    head_limit={**_count(f"How many lines of result to show; {MOST_LINES} if absent.", 2000), "minimum": 1},
)
_SKIPPED = "Folders named .git, node_modules, __pycache__ and .venv are left out."


def search_tools(*, reaches_out: bool) -> tuple[Tool[..., Any], ...]:
    """Make Glob and Grep."""
    of_names = Tool(
        "Glob",
        f"Find files in /workspace by a pattern of their names, those that changed last first. {_SKIPPED}",
        _GLOB,
        glob,
        group="files",
        side_effects=False,
        breaker=False,
        source="builtin",
    )
    of_text = Tool(
        "Grep",
        f"Find text in the files in /workspace by a regular expression. {_SKIPPED}",
        _GREP,
        grep,
        group="files",
        side_effects=False,
        untrusted=reaches_out,
        breaker=False,
        source="builtin",
    )
    return of_names, of_text
