"""What the agent does for the kinds of sandbox: hosts that come and go, its own end, limits, older Pythons."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from talaria.core.errors import InvalidRequest, SandboxLost
from talaria.ports.sandbox import Command
from talaria.sandbox.agent import source
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.frames import OPEN, frame
from tests.polling import eventually
from tests.sandbox.bare import ProcessLink, bare_sandbox

_SOURCE = source()
_MIB = 1024 * 1024


class StreamLink:
    """The stream to an agent at the other end of a socket."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        return await self._reader.read(65536)

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


@asynccontextmanager
async def listening(folder: Path, **options: object) -> AsyncGenerator[tuple[Path, asyncio.subprocess.Process]]:
    """Run an agent that listens on a socket."""
    path = folder / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        words = [f"{k}={v}" for k, v in {"workspace": folder, "fd": listener.fileno(), **options}.items()]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", _SOURCE, *words, pass_fds=[listener.fileno()]
        )
    try:
        yield path, process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def connect(path: Path) -> AgentSandbox:
    sandbox = AgentSandbox(StreamLink(*await asyncio.open_unix_connection(path)))
    await sandbox.open()
    return sandbox


async def gone(path: Path) -> bool:
    return not await asyncio.to_thread(path.exists)


async def test_a_host_that_comes_after_another_ends_what_that_one_ran(tmp_path: Path) -> None:
    async with listening(tmp_path) as (path, process):
        first = await connect(path)
        began = asyncio.Event()
        script = "echo $$ > pid; echo on; sleep 300"
        running = asyncio.create_task(first.exec(Command(argv=["bash", "-c", script]), lambda _: began.set()))
        await began.wait()
        second = await connect(path)
        with pytest.raises(SandboxLost):
            await running
        pid = int(await second.read("pid"))
        await eventually(lambda: gone(Path(f"/proc/{pid}")), "the end of the first host's command")
        assert (await second.exec(Command(argv=["echo", "well"]))).head == b"well\n"
        await first.detach()
        await second.close()
        assert await process.wait() == 0


async def test_a_host_that_has_let_go_finds_the_sandbox_as_it_was(tmp_path: Path) -> None:
    async with listening(tmp_path, orphan=60) as (path, process):
        first = await connect(path)
        await first.write("file", b"kept")
        await first.detach()
        second = await connect(path)
        assert await second.read("file") == b"kept"
        await second.close()
        assert await process.wait() == 0


async def test_an_agent_without_a_host_ends_by_itself(tmp_path: Path) -> None:
    async with listening(tmp_path, orphan=0.5) as (path, process):
        sandbox = await connect(path)
        await sandbox.detach()
        began = time.monotonic()
        assert await process.wait() == 0
        assert time.monotonic() - began < 20


async def test_half_a_frame_of_a_host_that_died_does_not_hinder_the_next(tmp_path: Path) -> None:
    words = [f"workspace={tmp_path}"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", _SOURCE, *words, stdin=pipe, stdout=pipe
    )
    link = ProcessLink(process, keep=True)
    first = AgentSandbox(link)
    await first.open()
    link.write(frame(OPEN, 5, b"write\0file\0and much more that never comes")[:-7])
    await first.detach()
    second = AgentSandbox(ProcessLink(process))
    await second.open()
    await second.write("file", b"whole")
    assert await second.read("file") == b"whole"
    await second.close()
    assert await process.wait() == 0


async def test_the_end_of_the_stream_ends_the_agent_and_all_that_runs(tmp_path: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", _SOURCE, f"workspace={tmp_path}", stdin=pipe, stdout=pipe
    )
    sandbox = AgentSandbox(ProcessLink(process))
    await sandbox.open()
    began = asyncio.Event()
    script = "trap '' TERM; echo $$ > pid; echo on; sleep 300"
    running = asyncio.create_task(sandbox.exec(Command(argv=["bash", "-c", script]), lambda _: began.set()))
    await began.wait()
    pid = int(await sandbox.read("pid"))
    await sandbox.detach()
    with pytest.raises(SandboxLost):
        await running
    assert await process.wait() == 0
    assert await gone(Path(f"/proc/{pid}"))


async def test_a_workspace_over_its_limit_ends_what_fills_it_and_not_what_makes_room(tmp_path: Path) -> None:
    async with bare_sandbox(tmp_path, disk=8 * _MIB) as sandbox:
        script = "for n in {1..40}; do head -c 1M /dev/zero > file-$n; sleep 0.05; done"
        assert (await sandbox.exec(Command(argv=["bash", "-c", script], timeout=30))).reason == "disk"
        with pytest.raises(InvalidRequest, match="room"):
            await sandbox.write("more", bytes(_MIB))
        assert (await sandbox.exec(Command(argv=["bash", "-c", "rm file-*; echo well"]))).head == b"well\n"
        await sandbox.exec(Command(argv=["sleep", "0.5"]))
        await sandbox.write("more", bytes(_MIB))


async def test_what_the_kernel_ends_for_want_of_memory_is_said_to(tmp_path: Path) -> None:
    events = tmp_path / "memory.events"
    await asyncio.to_thread(events.write_bytes, b"low 0\noom 0\noom_kill 0\n")
    fd = await asyncio.to_thread(os.open, events, os.O_RDONLY)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", _SOURCE, f"workspace={tmp_path}", f"oom={fd}",
        stdin=pipe, stdout=pipe, pass_fds=[fd],
    )  # fmt: skip
    os.close(fd)
    sandbox = AgentSandbox(ProcessLink(process))
    await sandbox.open()
    script = "printf 'oom_kill 1\\n' > memory.events; kill -9 $$"
    done = await sandbox.exec(Command(argv=["bash", "-c", script]))
    again = await sandbox.exec(Command(argv=["bash", "-c", "kill -9 $$"]))
    assert (done.reason, again.reason, done.exit_code) == ("memory", "exited", 137)
    await sandbox.close()
    assert await process.wait() == 0


async def test_the_agent_runs_with_every_python_that_is_here(tmp_path: Path) -> None:
    names = ["/usr/bin/python3", *(f"python3.{minor}" for minor in range(9, 16))]
    for program in [sys.executable, *[name for name in names if await asyncio.to_thread(_runs, name)]]:
        async with bare_sandbox(tmp_path, python=program) as sandbox:
            await sandbox.write("file", b"well")
            assert (await sandbox.exec(Command(argv=["cat", "file"]))).head == b"well"


def _runs(program: str) -> bool:
    found = shutil.which(program)
    return found is not None and subprocess.run([found, "-c", "import ctypes"], check=False, capture_output=True).returncode == 0
