"""The agent as a plain process on this machine, for tests only: nothing is kept from anything."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from talaria.sandbox.agent import source
from talaria.sandbox.agent_sandbox import AgentSandbox

_SOURCE = source()


class ProcessLink:
    """The stream to an agent at the other end of two pipes."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in = process.stdin
        self._out = process.stdout

    async def read(self) -> bytes:
        return await self._out.read(65536)

    def write(self, data: bytes) -> None:
        self._in.write(data)

    async def drain(self) -> None:
        await self._in.drain()

    async def close(self) -> None:
        self._in.close()


@asynccontextmanager
async def bare_sandbox(folder: Path, **options: object) -> AsyncIterator[AgentSandbox]:
    """Run an agent on a folder."""
    program = options.pop("python", sys.executable)
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    words = [f"{name}={value}" for name, value in {"workspace": folder, **options}.items()]
    process = await asyncio.create_subprocess_exec(
        str(program), "-I", "-S", "-c", _SOURCE, *words, stdin=PIPE, stdout=PIPE
    )
    sandbox = AgentSandbox(ProcessLink(process))
    try:
        await sandbox.open()
        yield sandbox
        await sandbox.close()
        async with asyncio.timeout(15):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
