"""Bash: commands in the session's sandbox."""

import asyncio
import signal
from typing import Any

from talaria.ports.sandbox import Command, Exited
from talaria.tools.builtin.background import Background
from talaria.tools.builtin.output import LiveOutput, noted, output_text
from talaria.tools.builtin.places import sandbox_of
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

LONGEST = 600.0
"""Seconds that a command may take."""
_KEPT_FOLDER = """IFS= read -r _at 2>/dev/null </tmp/.bash-folder && cd -- "$_at" 2>/dev/null; unset _at
"""
_THE_COMMAND = """set -- "$(</dev/stdin)"; exec </dev/null
eval "$1"
"""
"""It comes by standard input: an argument may not have more than 128 KiB."""
_IN_FOREGROUND = (
    _KEPT_FOLDER
    + """trap 'pwd >/tmp/.bash-folder' EXIT
"""
    + _THE_COMMAND
)
_IN_BACKGROUND = _KEPT_FOLDER + _THE_COMMAND
"""The folder that the last command ended in is kept in the sandbox: it is gone when that is."""


class Bash:
    """Runs commands, each in a bash of its own; the working directory is that in which the last one ended."""

    def __init__(self, background: Background, timeout: float) -> None:
        self._background = background
        self._timeout = timeout

    async def __call__(
        self, command: str, ctx: ToolContext, timeout: float | None = None, run_in_background: bool = False
    ) -> str:
        """Return what it wrote and how it ended."""
        sandbox = sandbox_of(ctx)
        if run_in_background:
            return await self._background.start(ctx, sandbox, command, ["bash", "-c", _IN_BACKGROUND])
        seconds = min(timeout or self._timeout, LONGEST)
        wanted = Command(argv=["bash", "-c", _IN_FOREGROUND], stdin=command.encode(), timeout=seconds)
        began = asyncio.get_running_loop().time()
        exited = await sandbox.exec(wanted, LiveOutput(ctx.output))
        took = asyncio.get_running_loop().time() - began
        said = output_text(exited.head, exited.dropped, exited.tail).rstrip("\n")
        return f"{said or '(no output)'}\n\n[{ending(exited, took, seconds)}]{noted(exited)}"


def ending(exited: Exited, took: float, limit: float) -> str:
    """Say how a command ended, and what can be done about it."""
    match exited.reason:
        case "timeout":
            return (
                f"timed out after {limit:g} s; it and all that it started were ended. Give it more time with timeout "
                f"(at most {LONGEST:g}), or run it with run_in_background"
            )
        case "disk":
            return "ended: /workspace is full. Delete what is not needed, then try again"
        case "memory":
            return "ended: out of memory. Work on less data at a time"
        case "exited":
            return f"exit code {exited.exit_code}{_signal(exited.exit_code)}, {took:.1f} s"


def _signal(code: int) -> str:
    known = {each.value for each in signal.Signals}
    return f" ({signal.Signals(code - 128).name})" if code - 128 in known else ""


def bash_tool(background: Background, timeout: float, *, reaches_out: bool) -> Tool[..., Any]:
    """Make the tool; `timeout` is a command's where the model says none, in seconds."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "Shell commands for bash."},
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": f"Seconds, at most {LONGEST:g}; {min(timeout, LONGEST):g} if absent.",
            },
            "run_in_background": {
                "type": "boolean",
                "default": False,
                "description": "Return at once with an id, for servers and long work; see BashOutput and KillBash.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    }
    description = (
        "Run commands in bash, in a sandbox on Linux. Files in /workspace stay between calls, and so does the working "
        "directory; variables do not. Nothing can be typed into a command, and all that it started ends with it. "
        "Prefer Read, Write, Edit, Glob and Grep for files."
    )
    return Tool(
        "Bash",
        description,
        parameters,
        Bash(background, timeout),
        group="code",
        outside=reaches_out,
        untrusted=reaches_out,
        timeout=LONGEST + 30,
        breaker=False,
        source="builtin",
    )
