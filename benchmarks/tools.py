"""Tools: what a declaration takes, the arguments of a call, and 500 tools in a runtime, sent or not."""

import gc
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from benchmarks import child
from benchmarks.figures import Figure, compared, plain
from benchmarks.floor import Floor, client
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import settings
from talaria import Agent, Runtime, tool
from talaria.models.openai.messages import EncodedPrompt
from talaria.models.profile import Profile
from talaria.ports.model import Prompt
from talaria.tools.arguments import bind, read_arguments
from talaria.tools.declaration import Tool

TITLE = "Tools, CPU"
FEW, MANY = 5, 500
TEXTS = {
    "fit": '{"path": "reports/a.md", "pieces": 5, "deep": true, "tags": ["x", "y"], "note": "as before"}',
    "coerced": '{"path": "reports/a.md", "pieces": "5", "deep": "true", "tags": "x", "note": "as before"}',
    "mended": "{'path': 'reports/a.md', 'pieces': 5, 'deep': True, 'tags': ['x', 'y'], 'note': 'as before',}",
}


def declare(number: int = 0) -> Tool[..., Any]:
    """A tool with five parameters."""

    def file(path: str, pieces: int, deep: bool, tags: list[str], note: str | None = None) -> str:
        """File a report.

        Args:
            path: Where to.
            pieces: How many pieces.
            deep: Whether folders inside count.
            tags: Words to find it by.
            note: What to keep in mind.
        """
        return path

    return tool(name=f"file_{number}", side_effects=False)(file)


def alone(count: int, times: int) -> dict[str, list[float]]:
    """Declarations in ms, and arguments in µs, by what they need."""
    measured: dict[str, list[float]] = {"declared": [], **{name: [] for name in TEXTS}}
    declared = declare()
    for _ in range(count):
        measured["declared"].append(_cpu(declare, times) * 1e3)
        for name, text in TEXTS.items():
            measured[name].append(_cpu(partial(_step, declared, text), times * 10) * 1e6)
    return measured


def _step(declared: Tool[..., Any], text: str) -> object:
    return bind(declared, read_arguments(declared, text).values)


def _cpu(once: Callable[[], object], times: int) -> float:
    once()
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        once()
    return (time.process_time() - began) / times


async def requests(url: str, count: int, runs: int) -> dict[str, list[float]]:
    """CPU ms of one more turn of a session, by contender and round; the contenders take turns."""
    every = [declare(number) for number in range(MANY)]
    few = every[:FEW]
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(client())
        small = await stack.enter_async_context(Runtime(settings(url), tools=few))
        large = await stack.enter_async_context(Runtime(settings(url), tools=every))
        short, long = _bytes(few), _bytes(every)
        some, all_of_them = Agent("some", model="mock", tools=few), Agent("all", model="mock", tools=every)
        less, more = Floor(http, url, tools=short), Floor(http, url, tools=long)
        subjects: dict[str, Callable[[], Any]] = {
            "few by hand": lambda: less.run("Go.", stream=True),
            "many by hand": lambda: more.run("Go.", stream=True),
            "few": lambda: small.run(some, "Go.", session="a"),
            "few of many": lambda: large.run(some, "Go.", session="b"),
            "many": lambda: large.run(all_of_them, "Go.", session="c"),
        }
        measured: dict[str, list[float]] = {name: [] for name in subjects}
        for number in range(count + 1):
            for name, once in subjects.items():
                gc.collect()
                began = time.process_time()
                for _ in range(runs):
                    await once()
                if number:  # the round before warms up
                    measured[name].append((time.process_time() - began) / runs * 1e3)
        return measured


def _bytes(tools: list[Tool[..., Any]]) -> bytes:
    """The tools as a request has them."""
    return bytes(EncodedPrompt(Prompt("", tuple(each.spec for each in tools), []), "mock", Profile()).tools)


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    got = child.run(alone, count=size.rounds, times=size.of(200))
    sent = child.run(requests, url=Play().url(origin), count=size.rounds, runs=size.of(50))
    by_hand = zip(sent["few"], sent["few by hand"], sent["many by hand"], strict=True)
    bytes_only = [few + max(0.0, many - less) for few, less, many in by_hand]
    return [
        plain("a declaration, with its schema", "ms", got["declared"], most=1),
        plain("arguments of 5 fields that fit", "µs", got["fit"], most=60),
        plain("arguments that are coerced", "µs", got["coerced"], most=60),
        plain("arguments whose text is mended", "µs", got["mended"], most=60),
        compared(
            f"{FEW} of {MANY} tools sent, beside {FEW} of {FEW}", "ms", sent["few of many"], sent["few"], bound=1.2
        ),
        compared(f"all {MANY} sent, beside {FEW} and the bytes", "ms", sent["many"], bytes_only, bound=1.5),
    ]
