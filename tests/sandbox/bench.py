"""An open pool over sandboxes in memory, with a clock that a test moves."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from talaria.core.ids import SessionKey
from talaria.ports.sandbox import Command
from talaria.sandbox.door import Door
from talaria.sandbox.launcher import Link, Size
from talaria.sandbox.limits import Limits
from talaria.sandbox.pool import Pool
from talaria.sandbox.records import Records
from talaria.sandbox.starting import Kind
from talaria.testing.clock import FakeClock
from tests.polling import eventually
from tests.sandbox.memory import MemoryLauncher, MemoryLink, MemorySandbox

IDLE, KEEP = 900.0, 86_400.0


def key(session: str, tenant: str = "acme", user: str = "ann") -> SessionKey:
    return SessionKey(tenant, user, "-", session)


class Counts:
    """What was counted, by name and labels."""

    def __init__(self) -> None:
        self.counted = Counter[str]()
        self.observed = list[float]()

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        self.counted[" ".join((name, *labels.values()))] += int(amount)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        del name, labels
        self.observed.append(seconds)


@dataclass
class Bench:
    """A pool and what is around it. `dead`: sessions that the store does not have any more."""

    pool: Pool
    launcher: MemoryLauncher
    clock: FakeClock
    counts: Counts
    boxes: list[MemorySandbox] = field(default_factory=list[MemorySandbox])
    is_killed: bool = False

    def door(self, session: str, tenant: str = "acme", **env: str) -> Door:
        return Door(self.pool, key(session, tenant), self.counts, env)

    async def run(self, session: str, word: str = "box", tenant: str = "acme") -> str:
        """Run a command in the sandbox of a session; return what it says."""
        return (await self.door(session, tenant).exec(Command(argv=[word]))).head.decode()

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, then what comes of it."""
        self.clock.move(seconds)
        await self.pool.sweep()
        await self.settle()

    async def settle(self) -> None:
        """Until nothing starts or ends any more, but for what waits for room or for the launcher's gate."""

        async def is_quiet() -> bool:
            for _ in range(5):
                await asyncio.sleep(0)
            tasks = len(self.pool._tasks)  # pyright: ignore[reportPrivateUsage]
            return tasks == self.pool._room.waiting + self.launcher.at_gate  # pyright: ignore[reportPrivateUsage]

        await eventually(is_quiet, "quiet")


@asynccontextmanager
async def a_bench(
    folder: Path,
    launcher: MemoryLauncher | None = None,
    clock: FakeClock | None = None,
    *,
    size: int = 50,
    spares: int = 0,
    dead: tuple[str, ...] = (),
    is_lasting: bool = True,
) -> AsyncGenerator[Bench]:
    """Open a pool; it is closed at the end."""
    launcher, clock, counts = launcher or MemoryLauncher(), clock or FakeClock(), Counts()
    boxes: list[MemorySandbox] = []

    async def connect(link: Link) -> MemorySandbox:
        await asyncio.sleep(0)
        boxes.append(MemorySandbox(cast("MemoryLink", link).box))
        return boxes[-1]

    async def is_alive(path: str) -> bool:
        return SessionKey.parse(path).session not in dead

    limits = Limits(size=size, idle=IDLE, keep=KEEP, spares=spares, is_lasting=is_lasting)
    kind = Kind(launcher=launcher, connect=connect, size=Size(memory=1, cpus=1, pids=16, disk=1))
    pool = Pool(kind, await Records.open(folder), limits, clock, counts)
    await pool.open(is_alive)
    bench = Bench(pool, launcher, clock, counts, boxes)
    try:
        yield bench
    finally:
        for box in boxes:
            box.let_go.set()
        if not bench.is_killed:
            await pool.close()


async def killed(bench: Bench) -> None:
    """The process is killed: what runs goes on, what is held in memory is gone. Nothing is done at its end."""
    bench.pool._records.close()  # pyright: ignore[reportPrivateUsage]
    bench.is_killed = True
