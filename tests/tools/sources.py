"""The four tools of the contract suite as functions, for tools that run in processes of their own."""

import json
import signal
from typing import Any

from talaria import tool


@tool(isolate="process", side_effects=False)
def echo(text: str, times: int = 1, tags: list[str] = []) -> dict[str, Any]:  # noqa: B006 - read only
    """Say what came."""
    return {"text": text, "times": times, "tags": tags}


@tool(isolate="process", side_effects=False)
def fail(words: str) -> str:
    """Fail."""
    raise ValueError(words)


@tool(isolate="process", side_effects=False)
def hang() -> str:
    """Never end."""
    while True:
        signal.pause()


@tool(isolate="process", side_effects=False)
def long() -> str:
    """Say much."""
    return f"first{'.' * 50_000}last"


def echo_json(**arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False)
