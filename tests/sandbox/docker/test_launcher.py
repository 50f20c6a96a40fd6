"""Containers of a real engine: what they may do, and how they are found again and removed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiodocker import Docker

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.ports.sandbox import Command, Exited
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.docker.address import engine_address
from talaria.sandbox.docker.launcher import DockerLauncher
from talaria.sandbox.launcher import Found, Launch, Link, Size
from tests.sandbox.docker.conftest import IMAGE

pytestmark = pytest.mark.service("docker")

MIB = 1024 * 1024
SIZE = Size(memory=256 * MIB, cpus=1, pids=48, disk=64 * MIB)


def launch_of(name: str) -> Launch:
    return Launch(name=name, size=SIZE, labels={"user": "ada"}, options={"disk": SIZE.disk, "orphan": 120})


async def opened(link: Link) -> AgentSandbox:
    sandbox = AgentSandbox(link)
    await sandbox.open()
    return sandbox


async def run(sandbox: AgentSandbox, *argv: str) -> Exited:
    return await sandbox.exec(Command(argv=argv, timeout=30))


async def told(sandbox: AgentSandbox, *argv: str) -> str:
    exited = await run(sandbox, *argv)
    assert exited.exit_code == 0, exited
    return exited.head.decode()


async def test_what_runs_is_nobody_in_particular_and_may_nothing(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))

    assert await told(sandbox, "id", "-u") == "1000\n"
    status = dict(line.split(":\t", 1) for line in (await told(sandbox, "cat", "/proc/self/status")).splitlines())
    assert {status[key] for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert await told(sandbox, "ls", "/sys/class/net") == "lo\n"
    assert (await run(sandbox, "sh", "-c", "touch /etc/x || touch /usr/x || touch /x")).exit_code != 0
    assert (await run(sandbox, "sh", "-c", "touch /workspace/x /tmp/x /dev/shm/x")).exit_code == 0
    assert "nosuid,nodev" in next(
        line for line in (await told(sandbox, "cat", "/proc/mounts")).splitlines() if " /tmp " in line
    )
    await sandbox.close()


async def test_a_command_that_takes_too_much_memory_ends_and_the_sandbox_goes_on(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))

    exited = await run(sandbox, "python3", "-c", "data = [bytearray(1 << 20) for _ in range(1024)]")

    assert (exited.exit_code, exited.reason) == (137, "memory")
    assert await told(sandbox, "echo", "still here") == "still here\n"
    await sandbox.close()


async def test_no_more_processes_than_its_size_allows(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))

    exited = await run(sandbox, "sh", "-c", "for i in $(seq 200); do sleep 20 & done; echo all of them")

    assert b"all of them" not in exited.head
    assert (await told(sandbox, "sh", "-c", "ls -d /proc/[0-9]* | wc -l")).strip() < "9"
    await sandbox.close()


async def test_tmp_is_as_small_as_a_fourth_of_memory(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))

    exited = await run(sandbox, "sh", "-c", "for i in 1 2; do head -c 40M /dev/zero >/tmp/$i || exit 1; done")

    assert exited.exit_code == 1
    assert b"No space left" in exited.head
    await sandbox.close()


async def test_the_next_one_of_a_name_has_the_same_workspace_and_ends_the_one_before(launcher: DockerLauncher) -> None:
    first = await opened(await launcher.launch(launch_of("one")))
    await first.write("kept.txt", b"kept")

    second = await opened(await launcher.launch(launch_of("one")))

    assert await second.read("kept.txt") == b"kept"
    await asyncio.wait_for(first.wait_lost(), 10)
    with pytest.raises(SandboxLost):
        await run(first, "true")
    await second.close()


async def test_another_process_finds_what_runs_and_goes_on_with_it(launcher: DockerLauncher, deployment: str) -> None:
    first = await opened(await launcher.launch(launch_of("one")))
    started = await told(first, "cat", "/proc/1/stat")
    await launcher.close()
    await asyncio.wait_for(first.wait_lost(), 10)

    after = DockerLauncher(deployment=deployment, image=IMAGE)
    try:
        assert await after.found() == [Found("one", {"user": "ada"}, True)]
        second = await opened(await after.attach("one"))
        assert (await told(second, "cat", "/proc/1/stat")).split()[21] == started.split()[21]
        await second.close()
    finally:
        await after.close()


async def test_only_the_last_link_to_a_sandbox_stands(launcher: DockerLauncher) -> None:
    first = await opened(await launcher.launch(launch_of("one")))
    second = await opened(await launcher.attach("one"))

    await asyncio.wait_for(first.wait_lost(), 10)
    assert await told(second, "echo", "here") == "here\n"
    await second.close()


async def test_a_sandbox_that_ended_is_found_by_its_workspace_until_that_is_removed(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))
    await sandbox.close()
    await asyncio.wait_for(sandbox.wait_lost(), 10)

    await launcher.remove("one", workspace=False)
    assert await launcher.found() == [Found("one", {"user": "ada"}, False)]
    with pytest.raises(SandboxLost):
        await launcher.attach("one")

    await launcher.remove("one", workspace=True)
    await launcher.remove("one", workspace=True)
    assert await launcher.found() == []


async def test_one_that_is_removed_while_a_command_runs_is_lost_at_once(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))
    running = asyncio.create_task(run(sandbox, "sleep", "20"))
    await asyncio.sleep(0)

    await asyncio.gather(launcher.remove("one", workspace=True), launcher.remove("one", workspace=True))

    with pytest.raises(SandboxLost):
        await asyncio.wait_for(running, 10)
    assert await launcher.found() == []


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
async def test_a_launch_that_is_cancelled_leaves_nothing_that_is_not_found(
    launcher: DockerLauncher, moment: float
) -> None:
    launching = asyncio.create_task(launcher.launch(launch_of("one")))
    await asyncio.wait([launching], timeout=moment)
    launching.cancel()
    await asyncio.wait([launching])

    for found in await launcher.found():
        await launcher.remove(found.name, workspace=True)
    assert await launcher.found() == []


async def test_a_flood_in_both_directions_comes_whole(launcher: DockerLauncher) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))
    data = bytes(range(256)) * 4096 * 8

    await asyncio.gather(*(sandbox.write(f"big{number}", data) for number in range(3)))

    assert [await sandbox.read(f"big{number}") == data for number in range(3)] == [True] * 3
    await sandbox.close()


async def test_many_at_once(launcher: DockerLauncher) -> None:
    names = [f"many-{number}" for number in range(8)]
    links = await asyncio.gather(*(launcher.launch(launch_of(name)) for name in names))
    sandboxes = [await opened(link) for link in links]

    said = await asyncio.gather(
        *(told(sandbox, "sh", "-c", f"echo {name}") for name, sandbox in zip(names, sandboxes, strict=True))
    )

    assert said == [f"{name}\n" for name in names]
    await asyncio.gather(*(sandbox.close() for sandbox in sandboxes))


async def test_check_is_content_with_this_engine(launcher: DockerLauncher) -> None:
    await launcher.check()


async def test_an_image_that_is_missing_is_named_with_what_makes_it(deployment: str) -> None:
    launcher = DockerLauncher(deployment=deployment, image="talaria-no-such-image")
    try:
        with pytest.raises(SandboxUnavailable, match="no image talaria-no-such-image: `talaria sandbox build`"):
            await launcher.check()
        with pytest.raises(SandboxUnavailable, match="talaria sandbox build"):
            await launcher.launch(launch_of("one"))
        assert await launcher.found() == []
    finally:
        await launcher.close()


async def test_a_runtime_that_is_missing_is_named(launcher: DockerLauncher, deployment: str) -> None:
    wrong = DockerLauncher(deployment=deployment, image=IMAGE, runtime="no-such-runtime")
    try:
        with pytest.raises(SandboxUnavailable, match="no runtime no-such-runtime; it has "):
            await wrong.check()
        with pytest.raises(SandboxUnavailable):
            await wrong.launch(launch_of("one"))
        assert [found.running for found in await wrong.found()] == [False]
    finally:
        await wrong.close()


async def test_an_engine_that_is_gone_is_said_to_be(
    deployment: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/gone.sock")
    launcher = DockerLauncher(deployment=deployment, image=IMAGE)
    try:
        with pytest.raises(SandboxUnavailable, match="Install Docker and start it, or set DOCKER_HOST"):
            await launcher.check()
    finally:
        await launcher.close()


async def test_what_the_agent_writes_is_in_no_log_of_the_engine(launcher: DockerLauncher, deployment: str) -> None:
    sandbox = await opened(await launcher.launch(launch_of("one")))
    docker: Any = Docker(url=await engine_address())
    try:
        shown = await docker.containers.container(f"talaria-{deployment}-one").show()
    finally:
        await docker.close()

    assert shown["HostConfig"]["LogConfig"]["Type"] == "none"
    await sandbox.close()
