"""What the policy costs: the two stages of one call alone, and runs of 10 tool calls with rules and without."""

import gc
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any, cast

from benchmarks import child
from benchmarks.figures import Figure, compared, plain
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import AGENT, look_up, settings
from benchmarks.tool_calls import CALLS
from talaria import Runtime, tool
from talaria.core.messages import ToolCall
from talaria.core.principal import Principal
from talaria.journal.state import CallState
from talaria.runtime.configure import read_settings
from talaria.runtime.policy import make_policy
from talaria.tools.chain import CallContext, CallRun, Proceed, ToolOutcome, fold
from talaria.tools.stages.approval import approval
from talaria.tools.stages.permission import permission

TITLE = "Policy, CPU"
NAMES = [
    {"deny": "mcp__*"},
    {"deny": "group:admin", "roles": ["guest"]},
    {"allow": "look_up", "roles": ["user"]},
]
CONDITIONS = [
    {"deny": "look_up", "when": "args.amount > 1000000"},
    {"ask": "look_up", "when": "args.note.startsWith('urgent') || agent == 'nobody'"},
]
RULES: dict[str, list[dict[str, Any]]] = {
    "no rules": [],
    "3 rules of names": NAMES,
    "2 conditions more": [*NAMES, *CONDITIONS],
}
ALL = "all stages on"
QUOTAS = {
    "tenants": {"*": {"requestsPerDay": 10**9, "tokensPerDay": 10**12}},
    "agents": {"*": {"tokensPerDay": 10**12}},
    "users": {"*": {"callsPerHour": 10**9}},
    "tools": {"look_up": {"callsPerDay": 10**9}},
}
ARGUMENTS = {"order_id": "A-1001", "amount": 40, "note": "the customer called twice, and wants it settled this week"}
WHO = Principal("acme", "ann", ("user",))


@tool(group="admin")
async def close() -> str:
    """Close the shop."""
    return "closed"


TOOLS = [look_up, close]
_DONE = ToolOutcome("done")


async def _end(context: CallContext) -> ToolOutcome:
    return _DONE


def alone(count: int, times: int) -> dict[str, list[float]]:
    """µs of one call in the two stages and what ends it, by the rules there are; `nothing` is the end alone."""
    measured: dict[str, list[float]] = {name: [] for name in ("nothing", *RULES)}
    chain = fold((permission, approval, lambda context, _: _end(context)))
    calls = {name: _call(rules) for name, rules in RULES.items()}
    for number in range(count + 1):
        costs = {name: _cost(lambda each=each: _drive(chain, each), times) for name, each in calls.items()}
        costs["nothing"] = _cost(lambda: _drive(_end, calls["no rules"]), times)
        if number:  # the round before warms up
            for name, cost in costs.items():
                measured[name].append(cost)
    return measured


def _call(rules: list[dict[str, Any]]) -> CallContext:
    policy = make_policy(read_settings({"policy": {"rules": rules}}, {}), TOOLS)
    run = SimpleNamespace(
        policy=policy.of_run([look_up], WHO, "orders"),
        principal=WHO,
        state=SimpleNamespace(remembered={}, untrusted=False),
        run=SimpleNamespace(turn=SimpleNamespace(bypass=False)),
    )
    context = CallContext(cast("CallRun", run), CallState(ToolCall("a", "look_up"), "{}", 1, 1))
    context.tool, context.arguments = look_up, ARGUMENTS
    return context


def _drive(chain: Proceed, context: CallContext) -> None:
    """Run a call that waits for nothing."""
    try:
        cast("Any", chain(context)).send(None)
    except StopIteration:
        return
    raise AssertionError("the call waits")


def _cost(once: Callable[[], object], times: int) -> float:
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        once()
    return (time.process_time() - began) / times * 1e6


async def rounds(url: str, count: int, runs: int) -> dict[str, list[float]]:
    """CPU ms of a run of 10 calls, by the rules there are, and with all of the guard; the contenders take turns."""
    configs: dict[str, dict[str, Any]] = {name: {"policy": {"rules": rules}} for name, rules in RULES.items()}
    configs[ALL] = configs["2 conditions more"] | {"quotas": QUOTAS}
    async with AsyncExitStack() as stack:
        opened = {
            name: await stack.enter_async_context(Runtime(settings(url, **config), tools=TOOLS))
            for name, config in configs.items()
        }
        measured: dict[str, list[float]] = {name: [] for name in opened}
        for number in range(count + 1):
            for name, each in opened.items():
                gc.collect()
                began = time.process_time()
                for _ in range(runs):
                    secrets = {"apiKey": "a secret of about thirty letters"} if name == ALL else {}
                    await each.run(AGENT, "Look up my ten orders.", principal=WHO, secrets=secrets)
                if number:
                    measured[name].append((time.process_time() - began) / runs * 1e3)
        return measured


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    got = child.run(alone, count=size.rounds, times=size.of(5_000))
    ran = child.run(rounds, url=Play(calls=CALLS).url(origin), count=size.rounds, runs=size.of(30))
    both = {name: [cost - none for cost, none in zip(got[name], got["nothing"], strict=True)] for name in RULES}
    added = [(full - none) / CALLS * 1e3 for full, none in zip(ran[ALL], ran["no rules"], strict=True)]
    ruled = [name for name in RULES if name != "no rules"]
    return [
        *(plain(f"both stages of a call: {name}", "µs", both[name], most=30) for name in RULES),
        plain("all stages on: what they add to a call", "µs", added, most=120),
        *(compared(f"a run of {CALLS} calls: {name}", "ms", ran[name], ran["no rules"], bound=1.25) for name in ruled),
    ]
