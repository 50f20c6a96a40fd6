"""10,000 runs that wait for a person, in one process: what each takes, and how fast it goes on once it may."""

import asyncio
import gc
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import child
from benchmarks.figures import Figure
from benchmarks.machine import KIB, memory
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import MEMORY, runtime, sqlite
from talaria import Agent, Principal, Runtime, Tool, ToolContext, tool
from talaria.journal.index import APPROVAL
from talaria.ports.journal import Put
from talaria.runtime.desk import Decision
from talaria.runtime.request import ChatRequest
from talaria.testing.clock import FakeClock

RUNS = 10_000
DECISIONS = 200
TITLE = f"{RUNS:,} runs parked on approval in one process"
WARM = 30
"""Seconds after which nothing but rows is left of a parked run."""
DAY = 86_400
BEFORE = 20
INSTRUCTIONS = "You look after the orders of a shop. Be brief; say what you did and what is left to do. " * 15
KINDS = ("SessionState", "LiveBuffer", "Frame", "Owner", "OpenRun", "SessionWriter", "Task", "Lock", "Event")


class Begun:
    """When approved calls began to run, by run."""

    def __init__(self) -> None:
        self._moments: dict[str, asyncio.Future[float]] = {}

    def of(self, run: str) -> "asyncio.Future[float]":
        """The moment at which the run's call begins."""
        return self._moments.setdefault(run, asyncio.get_running_loop().create_future())

    def now(self, run: str) -> None:
        """The run's call begins."""
        if (moment := self._moments.pop(run, None)) is not None:
            moment.set_result(time.perf_counter())


@dataclass(frozen=True)
class Counts:
    """What there is in this process. `memory` is resident, in bytes; `blocks` are those of Python's allocator."""

    memory: int
    blocks: int
    objects: int
    threads: int
    tasks: int
    kinds: dict[str, int]


def count() -> Counts:
    """Count, after all garbage is gone."""
    gc.collect()
    objects = gc.get_objects()
    kinds = Counter(type(each).__name__ for each in objects)
    number, tasks = len(objects), len(asyncio.all_tasks())
    del objects
    gc.collect()
    found = {kind: kinds[kind] for kind in KINDS}
    return Counts(memory(), sys.getallocatedblocks(), number, threading.active_count(), tasks, found)


def agent(begun: Begun) -> Agent:
    """An agent of ordinary size, whose one dangerous tool says when it ran."""

    @tool(approval=True)
    async def look_up(order_id: str, amount: int, ctx: ToolContext, note: str = "") -> str:
        """Refund an order, which takes somebody's consent.

        Args:
            order_id: The order.
            amount: How much to give back.
            note: What the customer is told.
        """
        begun.now(ctx.run_id)
        return f"refunded {amount} of {order_id}"

    others = [_other(number) for number in range(4)]
    return Agent("orders", model="mock", instructions=INSTRUCTIONS, tools=[look_up, *others])


def _other(number: int) -> Tool[..., Any]:
    @tool(name=f"list_orders_{number}", side_effects=False)
    async def list_orders(customer: str, since: str, limit: int = 20) -> list[str]:
        """List the orders of a customer, newest first, with their states and amounts.

        Args:
            customer: The customer's number.
            since: The first day to look at.
            limit: How many orders at most.
        """
        return [f"{customer} {since} {limit}"]

    return list_orders


class Parking:
    """A runtime with parked runs."""

    def __init__(self, opened: Runtime, clock: FakeClock | None, begun: Begun) -> None:
        self._parts = opened.parts
        self._clock = clock
        self._begun = begun
        self._agent = agent(begun)
        self._parts.kit.catalog.add_agent(self._agent)

    async def park(self, runs: int, prefix: str = "s") -> None:
        """Begin so many runs, and wait until each of them waits for a person."""
        there = len(await self.questions())
        for start in range(0, runs, 100):
            await asyncio.gather(*(self._submit(f"{prefix}-{at}") for at in range(start, min(start + 100, runs))))
        await self._rest()
        assert len(await self.questions()) == there + runs, "not every run has asked"

    async def _submit(self, session: str) -> None:
        request = ChatRequest(query="Give me my money back, please.", agent=self._agent.name, session_id=session)
        await self._parts.admission.submit(request, Principal())

    async def _rest(self) -> None:
        engine = self._parts.engine
        for _ in range(12_000):
            if not engine.running and not engine.lined_up:
                return
            await asyncio.sleep(0.01)
        raise TimeoutError("the runs do not come to rest")

    async def questions(self) -> list[Put]:
        """The open questions."""
        return await self._parts.kit.store.index.find(APPROVAL, None, limit=1_000_000)

    async def decide(self, decisions: int, apart: float = 0.0) -> list[float]:
        """Approve questions at random, `apart` seconds apart; return how many ms each call took to begin."""
        chosen = random.sample(await self.questions(), decisions)
        took = await asyncio.gather(*(self._decide(row, at * apart) for at, row in enumerate(chosen)))
        await self._rest()
        return sorted(took)

    async def _decide(self, row: Put, after: float) -> float:
        begun = self._begun.of(await self._run_of(row))
        await asyncio.sleep(after)
        began = time.perf_counter()
        await self._parts.desk.decide(Principal(), Decision(row.key, approve=True))
        return (await asyncio.wait_for(begun, 30.0) - began) * 1000

    async def _run_of(self, row: Put) -> str:
        wake = await self._parts.kit.store.index.get("wake", row.session)
        assert wake is not None
        return wake.data.decode()

    async def grow_cold(self) -> float:
        """Wait until nothing of the runs is in memory, and return how many seconds that took."""
        began = time.perf_counter()
        if self._clock is not None:
            self._clock.move(WARM)
        while (left := count().kinds)["SessionState"] or left["LiveBuffer"]:
            assert time.perf_counter() - began < 2 * WARM, f"still in memory: {left}"
            await asyncio.sleep(1.0)
        return time.perf_counter() - began

    async def held(self) -> int:
        """How many sessions with an open question somebody holds the lease of."""
        leases, held = self._parts.kit.store.leases, 0
        for row in await self.questions():
            epoch = await leases.acquire(row.session)
            if epoch is None:
                held += 1
            else:
                await leases.release(row.session, epoch)
        return held


async def waiting(url: str, durable: bool, runs: int, decisions: int, apart: float | None = None) -> dict[str, Any]:
    """Park runs and wake some of them, warm and cold, all at once.

    With `apart` decisions come so many seconds apart, and there is a clock that is moved instead of waited for.
    """
    clock = FakeClock() if apart is not None else None
    with TemporaryDirectory() as folder:
        async with runtime(url, sqlite(folder) if durable else MEMORY, clock, approval={"timeout": DAY}) as opened:
            return await _story(Parking(opened, clock, Begun()), runs, decisions, apart or 0.0)


async def _story(parking: Parking, runs: int, decisions: int, apart: float) -> dict[str, Any]:
    some = min(decisions, runs // 2)
    await parking.park(BEFORE, "before")
    await parking.decide(BEFORE)  # what is made once is there before anything is counted
    base, began = count(), time.perf_counter()
    await parking.park(runs)
    parked = time.perf_counter() - began
    warm = count()
    story: dict[str, Any] = {"seconds": parked, "held": await parking.held()}
    story["warm_wakes"] = await parking.decide(some, apart)
    story["until_cold"] = await parking.grow_cold()
    cold = count()
    story["cold_wakes"] = await parking.decide(some, apart)
    story["left"] = len(await parking.questions())
    return story | _compared("warm", base, warm, runs) | _compared("cold", base, cold, runs)


def _compared(name: str, base: Counts, now: Counts, runs: int) -> dict[str, Any]:
    return {
        f"{name}_kb": (now.memory - base.memory) / KIB / runs,
        f"{name}_blocks": (now.blocks - base.blocks) / runs,
        f"{name}_objects": (now.objects - base.objects) / runs,
        f"{name}_tasks": now.tasks - base.tasks,
        f"{name}_threads": now.threads - base.threads,
        f"{name}_kinds": {kind: now.kinds[kind] - base.kinds[kind] for kind in KINDS},
    }


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    figures: list[Figure] = []
    is_full = size.share == 1
    for name, durable in (("SQLite", True), ("memory", False))[0 if is_full else 1 :]:
        url, runs, decisions = Play(calls=1).url(origin), size.of(RUNS), size.of(DECISIONS)
        apart = None if is_full else 0.0
        got = child.run(waiting, url=url, durable=durable, runs=runs, decisions=decisions, apart=apart)
        figures += _figures(name, got, durable=durable, full=is_full)
    return figures


def _figures(store: str, got: dict[str, Any], *, durable: bool, full: bool) -> list[Figure]:
    extra = sum(got[f"{when}_{what}"] for when in ("warm", "cold") for what in ("tasks", "threads"))
    locks = sum(got[f"{when}_kinds"]["Lock"] for when in ("warm", "cold"))
    figures = [
        Figure(f"{store}: memory of each, warm", got["warm_kb"], "KB", most=20 if full else None),
        Figure(f"{store}: objects of each, cold", got["cold_objects"], "", most=1 if full and durable else None),
        Figure(
            f"{store}: allocated blocks of each, cold", got["cold_blocks"], "", most=8 if full and durable else None
        ),
        Figure(f"{store}: resident memory of each that Python has not given back, cold", got["cold_kb"], "KB"),
        Figure(f"{store}: tasks, threads, locks, leases for all", extra + locks + got["held"], "", most=0),
        Figure(f"{store}: until nothing but rows is left", got["until_cold"], "s", most=WARM + 5),
    ]
    for when in ("warm", "cold"):
        wakes: list[float] = got[f"{when}_wakes"]
        p50, p99 = wakes[len(wakes) // 2], wakes[min(len(wakes) - 1, int(len(wakes) * 0.99))]
        name = f"{store}: decision to call, {when}"
        figures += [Figure(f"{name}, p50", p50, "ms"), Figure(f"{name}, p99", p99, "ms")]
        figures.append(Figure(f"{name}, slowest", wakes[-1], "ms", most=1_000))
    return figures
