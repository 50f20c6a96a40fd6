"""Quotas: what a request, a model call and a tool call take under quotas of tenant, agent, user and tool."""

import gc
import time
from collections.abc import Awaitable, Callable

from benchmarks import child
from benchmarks.figures import Figure, plain
from benchmarks.size import Size
from talaria.core.messages import Text, UserMessage
from talaria.core.usage import Usage
from talaria.ports.model import ModelRequest, Prompt
from talaria.ports.profile import Price, Profile
from talaria.quotas.quotas import Quotas
from talaria.quotas.rules import Budget, Rules
from talaria.quotas.windows import Windows
from talaria.runtime.clock import SystemClock
from talaria.stores.memory.counters import MemoryCounters

TITLE = "Quotas of tenant, agent, user and tool, CPU"
MANY = 1e15
USE = (
    Budget("requests", "minute", MANY, "requestsPerMinute"),
    Budget("tokens", "day", MANY, "tokensPerDay"),
    Budget("cost", "day", MANY, "costPerDay"),
)
CALLS = (Budget("calls", "hour", MANY, "callsPerHour"),)
PROFILES = (Profile(price=Price(1, 2)),)


async def alone(count: int, times: int) -> dict[str, list[float]]:
    """µs of each, by what is counted."""
    rules = Rules({"*": USE}, {"*": USE}, {"*": USE}, {"look_up": {"look_up": CALLS, "group:orders": CALLS}})
    quotas = Quotas(rules, MemoryCounters(), Windows(SystemClock()), profiles=lambda _: PROFILES, answer_tokens=1_000)
    prompt = Prompt("You look after orders.", (), [UserMessage((Text("Look up my order."),)) for _ in range(40)])
    run, used = quotas.of("acme", "orders", "ann"), Usage(100, 10, cost=0.1)

    async def request() -> None:
        await quotas.of("acme", "orders", "ann").admit()

    async def model() -> None:
        hold = await run.reserve(run.capped(ModelRequest("mock", prompt)))
        await hold.settle_model(used)

    async def call() -> None:
        await run.take_call("look_up")

    subjects = {"request": request, "model": model, "call": call}
    return {name: [await _cpu(once, times) for _ in range(count)] for name, once in subjects.items()}


async def _cpu(once: Callable[[], Awaitable[None]], times: int) -> float:
    await once()
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        await once()
    return (time.process_time() - began) / times * 1e6


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    del origin  # no model is asked
    got = child.run(alone, count=size.rounds, times=size.of(5_000))
    return [
        plain("a request at the door", "µs", got["request"], most=100),
        plain("a model call, taken and settled", "µs", got["model"], most=100),
        plain("a tool call", "µs", got["call"], most=20),
    ]
