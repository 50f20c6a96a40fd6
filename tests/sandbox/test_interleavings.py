"""Whatever calls, cancels, crashes, deletions and sweeps come in which order: the pool keeps its word."""

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.pool import PATIENCE
from tests.sandbox.bench import IDLE, KEEP, Bench, a_bench, key

SESSIONS = st.sampled_from([("a", "one"), ("b", "one"), ("c", "two"), ("d", "two"), ("e", "one")])
STEPS = st.one_of(
    st.tuples(st.just("call"), SESSIONS),
    st.tuples(st.just("long call"), SESSIONS),
    st.tuples(st.just("let go"), st.integers(0, 9)),
    st.tuples(st.just("cancel"), st.integers(0, 9)),
    st.tuples(st.just("kill"), st.integers(0, 9)),
    st.tuples(st.just("delete"), SESSIONS),
    st.tuples(st.just("pass"), st.sampled_from([1.0, PATIENCE, IDLE, KEEP])),
    st.tuples(st.just("break"), st.sampled_from(["", "it is broken"])),
    st.tuples(st.just("stick"), st.sampled_from(["", "it is stuck"])),
    st.tuples(st.just("run"), st.integers(0, 3)),
)


@dataclass
class Play:
    """Steps against a pool; what must always hold is checked after each."""

    bench: Bench
    calls: list[asyncio.Task[str]] = field(default_factory=list[asyncio.Task[str]])

    async def step(self, name: str, with_: object) -> None:
        match name, with_:
            case "call" | "long call" | "delete", (str() as session, str() as tenant):
                self._on_session(name, session, tenant)
            case _, int() as n:
                await self._on_one(name, n)
            case "pass", float() as seconds:
                self.bench.clock.move(seconds)
                await self._sweep()
            case "break", str() as why:
                self.bench.launcher.broken = why
            case _, str() as why:
                self.bench.launcher.stuck = bool(why)
            case _:
                raise AssertionError(name)

    def _on_session(self, name: str, session: str, tenant: str) -> None:
        if name == "delete":
            self.bench.pool.forget(key(session, tenant))
        else:
            word = "box" if name == "call" else "wait"
            self.calls.append(asyncio.create_task(self.bench.run(session, word, tenant)))

    async def _on_one(self, name: str, n: int) -> None:
        running, boxes = self.bench.launcher.running, self.bench.boxes
        if name == "let go" and boxes:
            boxes[n % len(boxes)].let_go.set()
        elif name == "cancel" and self.calls:
            self.calls[n % len(self.calls)].cancel()
        elif name == "kill" and running:
            self.bench.launcher.kill(running[n % len(running)].name)
        elif name == "run":
            for _ in range(n):
                await asyncio.sleep(0)

    async def _sweep(self) -> None:
        try:
            await self.bench.pool.sweep()
        except SandboxUnavailable:
            assert self.bench.launcher.broken

    async def end(self) -> None:
        """Everything is let go: every call comes to an end, and nothing is left over."""
        self.bench.launcher.broken, self.bench.launcher.stuck = "", False
        while any(not call.done() for call in self.calls):
            for box in self.bench.boxes:
                box.let_go.set()
            await asyncio.wait(self.calls, timeout=0.001)
        for call in self.calls:
            if not call.cancelled() and call.exception() is not None:
                assert isinstance(call.exception(), SandboxUnavailable), call.exception()
        await self.bench.settle()
        for _ in range(2):  # what could not be removed at once is removed by the next
            await self.bench.pass_time(KEEP)
        assert self.bench.pool.running == 0
        assert not self.bench.launcher.running
        assert not self.bench.launcher.workspaces


async def _play(steps: list[tuple[str, object]], size: int, spares: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with a_bench(Path(folder), size=size, spares=spares) as bench:
            play = Play(bench)
            for name, with_ in steps:
                await play.step(name, with_)
                assert bench.pool.running <= size
                assert not bench.launcher.evicted_in_use
            if not any(name == "stick" for name, _ in steps):
                assert bench.launcher.most <= size
            if not spares:
                await play.end()


@given(st.lists(STEPS, max_size=40), st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=150, deadline=None)
def test_the_pool_keeps_its_word_in_any_order_of_events(
    steps: list[tuple[str, object]], size: int, spares: int
) -> None:
    asyncio.run(asyncio.wait_for(_play(steps, size, spares), 20))
