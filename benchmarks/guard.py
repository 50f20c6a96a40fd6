"""What the guard's stages add to one tool call: breaker, fence and mask, and the seal of a run's secrets."""

import asyncio
import gc
import time
from types import SimpleNamespace
from typing import Any, cast

from benchmarks import child
from benchmarks.figures import Figure, plain
from benchmarks.size import Size
from talaria import Tool, tool
from talaria.core.messages import ToolCall
from talaria.core.redaction import Redactor
from talaria.core.untrusted import marks
from talaria.journal.state import CallState
from talaria.runtime.sealing import Seals
from talaria.telemetry.metrics import Metrics
from talaria.tools.breaker import Breakers
from talaria.tools.chain import CallContext, CallRun, Proceed, Stage, ToolOutcome, fold
from talaria.tools.stages.breaker import breaker
from talaria.tools.stages.fence import fence
from talaria.tools.stages.mask import mask

TITLE = "The guard, CPU of one call"
TEXT = "Order A-1001: two cups, one pot, on its way since Tuesday.\n" * 16
"""About 1,000 characters."""
SECRETS = {"apiKey": "a secret of about thirty letters"}


@tool(side_effects=False)
def inside() -> str:
    """Look inside."""
    return TEXT


@tool(side_effects=False, untrusted=True)
def outside() -> str:
    """Look outside."""
    return TEXT


async def body(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """The end of the chain."""
    return ToolOutcome(TEXT)


async def cost(stages: tuple[Stage, ...], which: Tool[..., Any], times: int) -> float:
    """CPU µs of a call through these stages."""
    state = SimpleNamespace(untrusted=False)
    run = SimpleNamespace(
        breakers=Breakers(5, 30, lambda: 0, Metrics()),
        redactor=Redactor(SECRETS),
        state=state,
        audit=lambda *_, **__: None,
    )
    context = CallContext(cast("CallRun", run), CallState(ToolCall("c", which.name, "{}"), "{}", 1, 1))
    context.tool = which
    chain = fold((*stages, body))
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        await chain(context)
    return (time.process_time() - began) / times * 1e6


def rounds(count: int, times: int) -> dict[str, list[float]]:
    """All of it, by name."""
    stages: dict[str, tuple[tuple[Stage, ...], Tool[..., Any]]] = {
        "nothing": ((), inside),
        "breaker and fence": ((breaker, fence), inside),
        "fenced": ((breaker, fence), outside),
        "mask": ((mask,), inside),
    }
    seals = Seals(["a key for the benchmark"])
    measured: dict[str, list[float]] = {name: [] for name in (*stages, "seal", "marks")}
    for _ in range(count):
        for name, (some, which) in stages.items():
            measured[name].append(asyncio.run(cost(some, which, times)))
        began = time.process_time()
        for _ in range(times):
            seals.seal(SECRETS, "run_1", "acme")
        measured["seal"].append((time.process_time() - began) / times * 1e6)
        began = time.process_time()
        for _ in range(times):
            marks(TEXT)
        measured["marks"].append((time.process_time() - began) / times * 1e6)
    return measured


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    del origin
    got = child.run(rounds, count=size.rounds, times=size.of(2000))
    floor = got["nothing"]

    def over(name: str) -> list[float]:
        return [max(0.0, value - least) for value, least in zip(got[name], floor, strict=True)]

    return [
        plain("breaker and fence, of a tool that is trusted", "µs", over("breaker and fence"), most=20),
        plain("fenced and looked through, 1,000 characters", "µs", over("fenced"), most=120),
        plain("of that, looking for patterns", "µs", got["marks"]),
        plain("masked, 1,000 characters", "µs", over("mask")),
        plain("secrets sealed, once a run", "µs", got["seal"], most=100),
    ]
