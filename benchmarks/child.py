"""Runs one function in a process of its own on core 0: `python -m benchmarks.child module:function '{"arguments": 1}'`.

A measure's memory, garbage and warm caches are then its own. What the function returns comes back as JSON.
"""

import asyncio
import inspect
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from benchmarks.machine import pin
from talaria.telemetry.logs import set_up_logs

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 900.0
"""Seconds that one process may take."""


class Failed(Exception):
    """A process did not return anything."""


def command(function: str, arguments: dict[str, Any]) -> list[str]:
    """The command line that runs a function."""
    return [sys.executable, "-m", "benchmarks.child", function, json.dumps(arguments)]


def run(function: Callable[..., Any], **arguments: Any) -> Any:
    """Run a function of a benchmark module in a process of its own; return what it returns, by way of JSON.

    Raises:
        Failed: it did not return; the message has its last words.
    """
    name = f"{function.__module__}:{function.__name__}"
    done = subprocess.run(
        command(name, arguments), cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    if done.returncode:
        raise Failed(f"{name} ended with {done.returncode}:\n{done.stderr[-2_000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main(name: str, arguments: dict[str, Any]) -> None:
    """Run the function and print its result."""
    pin(0)
    set_up_logs("json", logging.WARNING)  # what is written by hand logs nothing either
    module, _, function = name.partition(":")
    body = cast("Callable[..., Any]", getattr(import_module(module), function))
    result = body(**arguments)
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
