"""The demo's child processes: each says where it listens, and all end when the demo does, however it ends."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import talaria.demo.leash

_SECONDS_TO_START = 20.0
_SECONDS_TO_STOP = 5.0
_PORT = re.compile(r"(?:PORT |http://127\.0\.0\.1:)(\d+)")
_LEASH = talaria.demo.leash.__file__


class StartError(Exception):
    """A process did not start; the message says which."""


class Children:
    """Starts processes and remembers them. What they print to stderr goes to `log`."""

    def __init__(self, environ: Mapping[str, str], folder: Path, log: BinaryIO) -> None:
        self._environ = dict(environ)
        self._folder = folder
        self._log = log
        self._running: list[asyncio.subprocess.Process] = []

    async def start(self, arguments: Sequence[str], environ: Mapping[str, str]) -> asyncio.subprocess.Process:
        """Start `python arguments…` in a session of its own, so that Ctrl-C reaches the demo alone."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", _LEASH, str(os.getpid()), sys.executable, *arguments),
            cwd=self._folder,
            env={**self._environ, **environ},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        self._running.append(process)
        return process

    async def listening(self, arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
        """Start a process whose first line says where it listens (`PORT n`, or a URL); return its address.

        Raises:
            StartError: it ended, or said nothing in time.
        """
        process = await self.start(arguments, environ or {})
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_SECONDS_TO_START):
                said = (await process.stdout.readline()).decode(errors="replace")
        except TimeoutError:
            said = ""
        found = _PORT.search(said)
        if found is None:
            raise StartError(f"'python {' '.join(arguments)}' did not start")
        return f"http://127.0.0.1:{found[1]}"

    async def stop(self) -> None:
        """End all, the last one first, and wait until they are gone."""
        for process in reversed(self._running):
            await _stop(process)


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_SECONDS_TO_STOP):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def children(environ: Mapping[str, str], folder: Path, log: BinaryIO) -> AsyncGenerator[Children]:
    """Start processes inside this block; after it there are none."""
    started = Children(environ, folder, log)
    try:
        yield started
    finally:
        await started.stop()
