"""Servers as the tests see them: forked by a zygote, told to end, seen to their end."""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import msgspec

from tests.crash.server import Said, Start
from tests.repository import ROOT

SECONDS = 20.0


class Server:
    """One life of a server. `port` and `status` (negative: the signal that ended it) come when they are known."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.pid: asyncio.Future[int] = loop.create_future()
        self.port: asyncio.Future[int] = loop.create_future()
        self.status: asyncio.Future[int] = loop.create_future()

    def hear(self, said: Said) -> None:
        """Take in what is said of it."""
        for future, value in ((self.pid, said.pid), (self.port, said.port)):
            if value and not future.done():
                future.set_result(value)
        if said.status is not None:
            self.status.set_result(said.status)

    def lose(self) -> None:
        """Nothing more will be heard of it."""
        for future in (self.pid, self.status):
            if not future.done():
                future.set_exception(AssertionError("the zygote ended before this server; see standard error"))

    async def send(self, number: int) -> None:
        """Send it a signal, unless it is gone."""
        pid = await asyncio.shield(self.pid)
        if not self.status.done():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    async def is_up(self) -> bool:
        """Wait until it listens or is gone."""
        await asyncio.wait((self.port, self.status), timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return self.port.done() and not self.status.done()

    async def ended(self, limit: float = SECONDS) -> int:
        """Wait until it is gone."""
        return await asyncio.wait_for(asyncio.shield(self.status), limit)


class Fleet:
    """Starts servers through one zygote."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._servers: dict[int, Server] = {}
        self._ids = itertools.count(1)
        self._reader = asyncio.create_task(self._listen(), name="zygote")

    async def start(self, start: Start) -> Server:
        """Start a server; its id is given here."""
        number = next(self._ids)
        server = self._servers[number] = Server()
        self._input.write(msgspec.json.encode(msgspec.structs.replace(start, id=number)) + b"\n")
        await self._input.drain()
        return server

    async def stop(self) -> None:
        """Kill the servers that are left, and end the zygote."""
        for server in self._servers.values():
            if server.pid.done():
                await server.send(signal.SIGKILL)
        self._input.close()
        await asyncio.wait_for(self._reader, SECONDS)

    async def _listen(self) -> None:
        while line := await self._output.readline():
            said = msgspec.json.decode(line, type=Said)
            self._servers[said.id].hear(said)
        for server in self._servers.values():
            server.lose()


@asynccontextmanager
async def open_fleet() -> AsyncGenerator[Fleet]:
    """Start a zygote, and end it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.zygote",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    fleet = Fleet(process)
    try:
        yield fleet
    finally:
        await fleet.stop()
        await asyncio.wait_for(process.wait(), SECONDS)
