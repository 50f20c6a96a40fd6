"""Tools that run in processes of their own."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

from talaria import StopRun, Tool, ToolContext, tool

SLEEPER = (sys.executable, "-c", "import signal; signal.alarm(60); signal.pause()")


class Size(Enum):
    SMALL = "s"


@tool(isolate="process", side_effects=False)
def bound(on: date, size: Size = Size.SMALL) -> dict[str, Any]:
    """Say what came."""
    sys.stdout.write("noise on the standard output\n")
    return {"types": [type(on).__name__, type(size).__name__], "on": on, "pid": os.getpid()}


@tool(isolate="process")
async def waits(ctx: ToolContext) -> str:
    """Wait a moment."""
    await asyncio.sleep(0)
    left = 0 if ctx.deadline is None else ctx.deadline - asyncio.get_running_loop().time()
    assert 1 < left <= 60, left
    session = ctx.session.id
    return f"{ctx.secrets['key']} {ctx.principal.user} {session} {ctx.deps} {ctx.tool_call_id in ctx.idempotency_key}"


@tool(isolate="process")
def speaks(ctx: ToolContext) -> str:
    """Speak."""
    ctx.output("first ")
    thread = threading.Thread(target=ctx.output, args=("second \ud800",))
    thread.start()
    thread.join()
    ctx.emit("progress", {"done": 1})
    try:
        ctx.emit("bad", object())
    except TypeError as error:
        return type(error).__name__
    return "no error"


@tool(isolate="process")
def stops() -> str:
    """Stop."""
    raise StopRun("enough")


@tool(isolate="process", idempotent=True, retries=1)
def fails(how: str) -> Any:
    """Fail."""
    match how:
        case "raise":
            raise ValueError("no good")
        case "exit":
            raise SystemExit(3)
        case "result":
            return b"bytes"
        case _:
            os._exit(7)


@tool(isolate="process")
def dies() -> str:
    """Die."""
    os._exit(7)


@tool(isolate="process")
def hangs(file: str) -> str:
    """Start something and hang; the numbers of the processes go into the file."""
    child = subprocess.Popen(SLEEPER)
    place = Path(file)
    place.with_suffix(".new").write_text(f"{os.getpid()} {os.getppid()} {child.pid}")
    place.with_suffix(".new").rename(place)
    while True:
        signal.pause()


def plain(text: str) -> str:
    return text.upper()


by_hand = Tool(
    "by_hand",
    "Shout.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    plain,
    isolate="process",
)


def moved() -> str:
    """Not here."""
    return "never"


lost = Tool("lost", "Not there.", {"type": "object"}, moved, isolate="process")
moved.__qualname__ = "elsewhere"
