"""What the first command in a Docker sandbox that runs takes, beside the engine's own exec."""

import asyncio
import time
from typing import Any

from aiodocker import Docker

from benchmarks.figures import Figure, plain
from benchmarks.size import Size as Rounds
from talaria.core.errors import SandboxUnavailable
from talaria.core.ids import new_id
from talaria.ports.sandbox import Command
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.docker.address import engine_address
from talaria.sandbox.docker.launcher import DockerLauncher
from talaria.sandbox.launcher import Launch, Size

TITLE = "Commands in containers"
MIB = 1024 * 1024
SIZE = Size(memory=256 * MIB, cpus=1, pids=64, disk=64 * MIB)


async def _with_agent(sandbox: AgentSandbox) -> float:
    began = time.perf_counter()
    ended = await sandbox.exec(Command(argv=["true"]))
    assert ended.exit_code == 0
    return time.perf_counter() - began


async def _with_engine(docker: Any, container: str) -> float:
    """What `docker exec` does: an exec is made, its streams are read to the end, and it is asked how it ended."""
    began = time.perf_counter()
    made = await docker.containers.container(container).exec(["true"], stdout=True, stderr=True)
    async with made.start(detach=False) as stream:
        while await stream.read_out() is not None:
            pass
    assert (await made.inspect())["ExitCode"] == 0
    return time.perf_counter() - began


async def _measured(rounds: int) -> tuple[list[float], list[float], list[float]]:
    deployment = new_id("bench")
    launcher = DockerLauncher(deployment=deployment, image="talaria-sandbox")
    docker = Docker(url=await engine_address())
    new: list[float] = []
    own: list[float] = []
    theirs: list[float] = []
    try:
        for number in range(rounds):
            name = f"bench-{number}"
            began = time.perf_counter()
            sandbox = AgentSandbox(await launcher.launch(Launch(name=name, size=SIZE, labels={}, options={})))
            await sandbox.open()
            new.append(time.perf_counter() - began)
            own.append(await _with_agent(sandbox))
            theirs.append(await _with_engine(docker, f"talaria-{deployment}-{name}"))
            await launcher.remove(name, workspace=True)
    finally:
        for found in await launcher.found():
            await launcher.remove(found.name, workspace=True)
        await docker.close()
        await launcher.close()
    return new, own, theirs


def measure(_: str, size: Rounds) -> list[Figure]:
    """Measure; nothing where there is no engine with the image."""
    try:
        new, own, theirs = asyncio.run(_measured(size.rounds + 1))
    except SandboxUnavailable as error:
        print(f"no figures of containers: {error.message}")
        return []
    more = [(mine - floor) * 1000 for mine, floor in zip(own, theirs, strict=True)]
    return [
        plain("a new container until its agent answers", "ms", [one * 1000 for one in new[1:]]),
        plain("the first command in it", "ms", [one * 1000 for one in own[1:]]),
        plain("the same by the engine's own exec", "ms", [one * 1000 for one in theirs[1:]]),
        plain("more than that", "ms", more[1:], most=15),
    ]
