"""A site: one folder, one server after the other in it, each ended where the plan says, until nothing is planned."""

import asyncio
import signal
from collections.abc import Sequence
from itertools import chain, repeat
from pathlib import Path

import msgspec

from tests.crash.evidence import Death, observe
from tests.crash.fleet import Fleet, Server
from tests.crash.points import Kill
from tests.crash.server import Start


class Site:
    """Keeps a server running. `deaths` are the ends so far, with what was on record then."""

    def __init__(self, fleet: Fleet, start: Start, kills: Sequence[Kill]) -> None:
        self._fleet = fleet
        self._start = start
        self._kills = chain(kills, repeat(None))
        self._changed = asyncio.Condition()
        self._server: Server | None = None
        self._base: str | None = None
        self._killed_from_outside = False
        self.folder = Path(start.folder)
        self.deaths: list[Death] = []

    async def up(self) -> tuple[int, str]:
        """Return which life it is and its URL, once there is a server that listens."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._base is not None)
        assert self._base is not None
        return len(self.deaths), self._base

    async def after(self, life: int) -> None:
        """Wait until that life is over."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.deaths) > life)

    async def kill(self, number: int = signal.SIGKILL) -> None:
        """End the server from outside, and wait for its end."""
        life, _ = await self.up()
        assert self._server is not None
        self._killed_from_outside = True
        await self._server.send(number)
        await self.after(life)

    async def run(self) -> None:
        """Start servers for ever."""
        for kill in self._kills:
            await self._live(kill)

    async def close(self) -> None:
        """Kill the server of now, and see it gone. What its threads did then is in its log."""
        if self._server is not None:
            await self._server.send(signal.SIGUSR1)
            await asyncio.sleep(0.01)
            await self._server.send(signal.SIGKILL)
            await self._server.ended()

    async def _live(self, kill: Kill | None) -> None:
        inside = None if kill is None or kill.is_moment else kill
        server = self._server = await self._fleet.start(msgspec.structs.replace(self._start, kill=inside))
        moment = asyncio.create_task(self._at_moment(server, kill)) if kill is not None and kill.is_moment else None
        if await server.is_up():
            await self._tell(f"http://127.0.0.1:{server.port.result()}")
        status = await asyncio.shield(server.status)
        if moment is not None:
            moment.cancel()
        self._check(kill, status)
        self.deaths.append(observe(self.folder, len(self.deaths), kill, status))
        await self._tell(None)

    async def _at_moment(self, server: Server, kill: Kill) -> None:
        await asyncio.sleep(kill.nth / 1000)
        await server.send(kill.signal)

    async def _tell(self, base: str | None) -> None:
        self._base = base
        async with self._changed:
            self._changed.notify_all()

    def _check(self, kill: Kill | None, status: int) -> None:
        if self._killed_from_outside:
            self._killed_from_outside = False
            return
        expected = None if kill is None else 0 if kill.signal == signal.SIGTERM else -kill.signal
        assert status == expected, f"the server ended with {status}, planned was {kill}"
