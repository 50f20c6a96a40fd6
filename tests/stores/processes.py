"""Runs the programs of child.py and sees to their end."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

SECONDS = 20.0
CHILD = Path(__file__).with_name("child.py")


class Child:
    """A running program."""

    def __init__(self, process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> None:
        self._process = process
        self._output = output

    async def line(self) -> str:
        """The next line it says; "" when it has ended."""
        async with asyncio.timeout(SECONDS):
            return (await self._output.readline()).decode().rstrip("\n")

    async def kill(self) -> list[str]:
        """Kill it with signal 9 and return what it had said before."""
        if self._process.returncode is None:
            self._process.kill()
        return await self.rest()

    async def rest(self) -> list[str]:
        """What it says until it ends."""
        async with asyncio.timeout(SECONDS):
            said = await self._output.read()
            await self._process.wait()
        return said.decode().splitlines()


@asynccontextmanager
async def child(program: str, database: Path) -> AsyncGenerator[Child]:
    """Start a program; it is killed after the block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(CHILD), program, str(database), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    running = Child(process, process.stdout)
    try:
        yield running
    finally:
        await running.kill()
