"""1,000 sessions at once, each a turn of 3 tool calls, with a model that takes 200 ms to answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import child
from benchmarks.figures import Figure, compared, plain
from benchmarks.floor import Floor, client
from benchmarks.machine import MIB, middle, peak_memory
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import AGENT, MEMORY, runtime, sqlite

SESSIONS = 1_000
TITLE = f"{SESSIONS:,} sessions at once, 3 tool calls each, a model of 200 ms"
QUERY = "Look up my three orders."


async def by_hand(url: str, sessions: int) -> dict[str, float]:
    """The floor."""
    async with client() as http:
        return await _all(lambda _: Floor(http, url).run(QUERY, stream=True), sessions)


async def by_talaria(url: str, sessions: int, durable: bool) -> dict[str, float]:
    """A runtime."""
    with TemporaryDirectory() as folder:
        async with runtime(url, sqlite(folder) if durable else MEMORY) as opened:
            return await _all(lambda number: opened.run(AGENT, QUERY, session=f"s-{number}"), sessions)


async def _all(once: Callable[[int], Awaitable[object]], sessions: int) -> dict[str, float]:
    await once(-1)
    began, clock = time.process_time(), time.perf_counter()
    ended = await asyncio.gather(*(once(number) for number in range(sessions)), return_exceptions=True)
    return {
        "cpu": time.process_time() - began,
        "seconds": time.perf_counter() - clock,
        "failures": sum(isinstance(each, BaseException) for each in ended),
        "peak": peak_memory() / MIB,
    }


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    url, sessions = Play(calls=3, delay=200).url(origin), size.of(SESSIONS)
    got: dict[str, list[dict[str, Any]]] = {"floor": [], "memory": [], "sqlite": []}
    for _ in range(max(1, size.rounds - 2)):
        got["floor"].append(child.run(by_hand, url=url, sessions=sessions))
        got["memory"].append(child.run(by_talaria, url=url, sessions=sessions, durable=False))
        got["sqlite"].append(child.run(by_talaria, url=url, sessions=sessions, durable=True))
    floor = _column(got["floor"], "cpu")
    figures = [plain("peak memory by hand", "MB", _column(got["floor"], "peak"))]
    for name, store, bound in (("memory", "in memory", 3), ("sqlite", "on SQLite", None)):
        rounds = got[name]
        figures += [
            compared(f"CPU, {store}", "s", _column(rounds, "cpu"), floor, bound=bound),
            plain(f"peak memory, {store}", "MB", _column(rounds, "peak"), most=120),
            Figure(f"wall time, {store}", middle(_column(rounds, "seconds")), "s"),
            Figure(f"failures, {store}", sum(_column(rounds, "failures")), "", most=0),
        ]
    return figures


def _column(rounds: list[dict[str, Any]], name: str) -> list[float]:
    return [each[name] for each in rounds]
