"""Ending the processes of a sandbox, and deleting what they wrote."""

import asyncio
import os
import signal
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.bubblewrap.records import Folder

_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class _Running:
    """Pidfds of a sandbox's first process and of the bubblewrap that waits for it on the host."""

    first: int
    monitor: int | None


async def end(folder: Folder) -> None:
    """Kill a sandbox's first process, and with it its pid namespace; return when nothing of it is left.

    Raises:
        SandboxUnavailable: the kernel does not let go of it.
    """
    with ExitStack() as stack:
        running = await asyncio.to_thread(_running, folder, stack)
        if running is None:
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(running.first, signal.SIGKILL)
        await _ended(running.first)
        if running.monitor is not None:
            await _ended(running.monitor)


def _running(folder: Folder, stack: ExitStack) -> _Running | None:
    pid = folder.process()
    first = _held(pid, stack) if pid is not None else None
    if pid is None or first is None or folder.process() != pid:
        return None
    try:
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        is_monitor = Path(f"/proc/{parent}/comm").read_text() == "bwrap\n"
    except OSError:
        return _Running(first, None)
    return _Running(first, _held(parent, stack) if is_monitor else None)


def _held(pid: int, stack: ExitStack) -> int | None:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    stack.callback(os.close, fd)
    return fd


async def _ended(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(fd, ended.set)
    try:
        async with asyncio.timeout(_PATIENCE):
            await ended.wait()
    except TimeoutError:
        raise SandboxUnavailable("a sandbox does not end although it was killed") from None
    finally:
        loop.remove_reader(fd)


async def delete(path: Path) -> None:
    """Delete a folder with whatever is in it, however deep, also what its owner closed to himself.

    Raises:
        SandboxUnavailable: something could not be deleted.
    """
    if await _run("rm", "-rf", "--", str(path)):
        await _run("chmod", "-R", "u+rwx", "--", str(path))
        if await _run("rm", "-rf", "--", str(path)):
            raise SandboxUnavailable(f"cannot delete {path}")


async def _run(*argv: str) -> int:
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
