"""How long a new bubblewrap sandbox takes until its first command has run, beside starting a plain process."""

import asyncio
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.figures import Figure, plain
from benchmarks.size import Size
from talaria.core.errors import SandboxUnavailable
from talaria.ports.sandbox import Command
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.bubblewrap import Bubblewrap
from talaria.sandbox.launcher import Launch
from talaria.sandbox.launcher import Size as Limits

TITLE = "Sandboxes by bubblewrap"
LIMITS = Limits(memory=256 * 1024 * 1024, cpus=1, pids=64, disk=64 * 1024 * 1024)
TRUE = Command(argv=["true"], timeout=30)


def measure(origin: str, size: Size) -> list[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="talaria-"))
    folder.chmod(0o711)
    try:
        return asyncio.run(_measured(folder / "state", max(3, size.rounds)))
    finally:
        shutil.rmtree(folder)


async def _measured(state: Path, rounds: int) -> list[Figure]:
    launcher = Bubblewrap(state)
    try:
        await launcher.check()
    except SandboxUnavailable:
        return []
    try:
        times = [await _one(launcher, number) for number in range(rounds)]
    finally:
        for each in await launcher.found():
            await launcher.remove(each.name, workspace=True)
        await launcher.close()
    new, again, ended = (list(column) for column in zip(*times, strict=True))
    return [
        plain("new, with its first command", "ms", new, most=100),
        plain("a command in it after that", "ms", again),
        plain("removed with its workspace", "ms", ended),
    ]


async def _one(launcher: Bubblewrap, number: int) -> tuple[float, float, float]:
    name = f"number-{number}"
    began = time.perf_counter()
    link = await launcher.launch(Launch(name=name, size=LIMITS, labels={}, options={"disk": LIMITS.disk}))
    sandbox = AgentSandbox(link)
    await sandbox.open()
    await sandbox.exec(TRUE)
    first = time.perf_counter()
    await sandbox.exec(TRUE)
    second = time.perf_counter()
    await sandbox.close()
    ending = time.perf_counter()
    await launcher.remove(name, workspace=True)
    return (first - began) * 1000, (second - first) * 1000, (time.perf_counter() - ending) * 1000
