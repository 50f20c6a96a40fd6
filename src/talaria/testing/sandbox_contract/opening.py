"""How the suite opens sandboxes, and runs things in them."""

# ruff: noqa: D102 - the names of tests are their docstrings

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio

from talaria.ports.sandbox import Command, Exited, Sandbox
from talaria.sandbox.launcher import Size

SIZE = Size(memory=256 * 1024 * 1024, cpus=1, pids=64, disk=32 * 1024 * 1024)
"""What a sandbox of the suite may take."""

SECONDS = 30.0
"""No wait in the suite is longer."""

_PROCESSES = """
import os
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != os.getpid():
        try:
            status = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[0]
            print(status, open(f"/proc/{name}/cmdline").read().replace("\\0", " ").replace("\\n", " ")[:500])
        except OSError:
            pass
"""


class Opening:
    """A sandbox for each check."""

    pytestmark = pytest.mark.asyncio

    def open_sandbox(self, folder: Path) -> AbstractAsyncContextManager[Sandbox]:
        """Give a sandbox, in a block, after which nothing of it is left but its workspace."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def sandbox(self, tmp_path: Path) -> AsyncIterator[Sandbox]:
        async with self.open_sandbox(tmp_path) as sandbox:
            yield sandbox

    @pytest.fixture
    def mark(self) -> str:
        """Seconds of a sleep by which the processes of one check are known."""
        return f"300.{secrets.randbelow(10**9):09}"


async def shell(sandbox: Sandbox, script: str, timeout: float = SECONDS) -> Exited:
    """Run a script of the shell."""
    return await sandbox.exec(Command(argv=["bash", "-c", script], timeout=timeout))


async def python(sandbox: Sandbox, program: str, *words: str, timeout: float = SECONDS) -> Exited:
    """Run a program in Python."""
    return await sandbox.exec(Command(argv=["python3", "-c", program, *words], timeout=timeout))


async def processes(sandbox: Sandbox) -> list[str]:
    """Return the state and the command line of all processes but the one that looks."""
    seen = await python(sandbox, _PROCESSES)
    assert seen.exit_code == 0, seen.head
    return whole(seen).decode(errors="replace").splitlines()


async def nothing_runs(sandbox: Sandbox, mark: str) -> bool:
    """Return whether no process has the mark in its command line."""
    return not any(mark in line for line in await processes(sandbox))


async def appears(sandbox: Sandbox, name: str) -> None:
    """Wait until there is a file of this name."""
    async with asyncio.timeout(SECONDS):
        while name not in [file.path for file in await sandbox.list()]:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.02)


def whole(exited: Exited) -> bytes:
    """Return all that was kept of the output."""
    return exited.head + exited.tail
