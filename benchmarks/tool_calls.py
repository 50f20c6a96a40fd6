"""CPU of a run of 10 tool calls, one a round: in memory, and durable on SQLite."""

import gc
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from tempfile import TemporaryDirectory

from benchmarks import child
from benchmarks.figures import Figure, compared, plain
from benchmarks.floor import Floor, client
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import AGENT, MEMORY, read_only, runtime, sqlite

TITLE = "A run of 10 tool calls, CPU"
CALLS = 10

Once = Callable[[], Awaitable[object]]


async def rounds(url: str, count: int, runs: int) -> dict[str, list[float]]:
    """CPU ms of a run, by contender and round; the contenders take turns."""
    with TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(client())
            subjects: dict[str, Once] = {
                "plain": lambda: Floor(http, url).run("Look up my ten orders."),
                "streamed": lambda: Floor(http, url).run("Look up my ten orders.", stream=True),
            }
            reading = replace(AGENT, tools=[read_only])
            for name, store, agent in (
                ("memory", MEMORY, AGENT),
                ("sqlite", sqlite(folder, "a"), AGENT),
                ("reading", sqlite(folder, "b"), reading),
            ):
                opened = await stack.enter_async_context(runtime(url, store))
                subjects[name] = lambda run=opened.run, agent=agent: run(agent, "Look up my ten orders.")
            measured: dict[str, list[float]] = {name: [] for name in subjects}
            for number in range(count + 1):
                for name, once in subjects.items():
                    cost = await _cost(once, runs)
                    if number:  # the round before warms up
                        measured[name].append(cost)
            return measured


async def _cost(once: Once, runs: int) -> float:
    gc.collect()
    began = time.process_time()
    for _ in range(runs):
        await once()
    return (time.process_time() - began) / runs * 1000


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    got = child.run(rounds, url=Play(calls=CALLS).url(origin), count=size.rounds, runs=size.of(30))
    floors = [min(pair) for pair in zip(got["plain"], got["streamed"], strict=True)]
    return [
        plain("by hand, answers not streamed", "ms", got["plain"]),
        plain("by hand, answers streamed", "ms", got["streamed"]),
        compared("in memory", "ms", got["memory"], floors, bound=3),
        compared("durable on SQLite", "ms", got["sqlite"], floors, bound=5),
        compared("durable on SQLite, a tool without side effects", "ms", got["reading"], floors),
    ]
