"""The sandboxes of a deployment: one for each session, started when it is first used, ended when it is not.

There are no locks but one order. A use counts itself in its place first; then one task, the place's `work`, starts the
sandbox or ends it while everybody else waits for that task; that task takes room, then calls the launcher. Nobody waits
for a place while holding room that others wait for: who holds room gives it back by ending only.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.core.ids import SessionKey
from talaria.ports.clock import Clock
from talaria.sandbox.limits import Counters, Limits
from talaria.sandbox.place import Connected, Place, path_of
from talaria.sandbox.records import Records
from talaria.sandbox.room import Room
from talaria.sandbox.starting import Kind, Starter

EVERY = 30.0
"""Seconds between two looks for what is idle, too old or nobody's."""
PATIENCE = 30.0
"""Seconds that a use waits for room."""
NOBODY = ""
"""Who has the room of spares."""

_log = structlog.get_logger("talaria.sandbox")


class Pool:
    """Open it before use; `watch` must run beside it."""

    def __init__(self, kind: Kind, records: Records, limits: Limits, clock: Clock, counters: Counters) -> None:
        self._starter = Starter(kind, records)
        self._launcher = kind.launcher
        self._records = records
        self._limits = limits
        self._clock = clock
        self._counters = counters
        self._places: dict[str, Place] = {}
        self._room = Room(limits.size, clock, self._make_room)
        self._tasks = set[asyncio.Task[None]]()
        self._starts = set[asyncio.Task[None]]()
        self._ending = 0
        self._is_closed = False

    @property
    def running(self) -> int:
        """How many sandboxes there are, spares and those that just start or end included."""
        return self._room.taken

    def is_running(self, session: SessionKey) -> bool:
        """Whether this session has a sandbox that runs."""
        place = self._places.get(path_of(session))
        return place is not None and place.runs

    async def open(self, is_alive: Callable[[str], Awaitable[bool]]) -> None:
        """Find what earlier processes left; sandboxes of sessions that are not alive are removed.

        Raises:
            SandboxUnavailable: this cannot be found out now.
        """
        running = {each.name for each in await self._launcher.found() if each.running}
        for record in await self._records.load():
            self._starter.names.add(record.name)
            self.forget(SessionKey.parse(record.session))  # an older one that a kill left
            place = Place(record.session, SessionKey.parse(record.session).tenant, record.name, record.used)
            place.is_found = record.name in running
            self._places[record.session] = place
            if not await is_alive(record.session):
                self.forget(SessionKey.parse(record.session))
            elif place.is_found:
                place.has_room = self._room.try_take(place.tenant)
                if not place.has_room:
                    self._end(place, "room")
        await self._starter.reap()
        await self._add_spares()

    # Uses

    @asynccontextmanager
    async def use(self, session: SessionKey) -> AsyncGenerator[Place]:
        """Hold the session's sandbox, started if need be: it is not evicted meanwhile.

        Raises:
            SandboxUnavailable: it cannot be started now.
            SandboxLost: the session was deleted meanwhile.
        """
        place = self._places.setdefault(path_of(session), Place(path_of(session), session.tenant))
        place.users += 1
        try:
            await self._until_ready(place)
            yield place
        finally:
            place.users -= 1
            place.used = self._clock.now()
            if self._room.waiting:
                self._make_room()

    async def _until_ready(self, place: Place) -> None:
        while not place.is_ready:
            if self._is_closed:
                raise SandboxUnavailable("the server is stopping; try again in a moment")
            if place.is_forgotten:
                raise SandboxLost("the session was deleted, and its sandbox with it")
            work = place.work
            if work is None:
                work = place.work = self._spawn(self._start(place))
                self._starts.add(work)
                work.add_done_callback(self._starts.discard)
            await asyncio.wait((work,))
            if not work.cancelled():
                work.result()

    async def _start(self, place: Place) -> None:
        began = asyncio.get_running_loop().time()
        try:
            if not place.has_room:
                await self._find_room(place)
            how = await self._starter.start(place, self._clock.now())
        except BaseException:
            self._counters.count("sandbox_starts", how="failed")
            await self._clear(place)
            raise
        finally:
            place.work = None
        self._counters.count("sandbox_starts", how=how)
        self._counters.observe("sandbox_start_seconds", asyncio.get_running_loop().time() - began, how=how)
        _log.info("sandbox_started", sandbox=place.name, how=how)

    async def _find_room(self, place: Place) -> None:
        if not place.name and self._starter.spares:
            self._room.move(NOBODY, place.tenant)
        else:
            await self._room.take(place.tenant, PATIENCE)
        place.has_room = True

    # Ends

    def _make_room(self) -> None:
        """Somebody waits: end spares, then what is idle, the longest unused first."""
        for _ in range(self._room.waiting - self._ending):
            idle = [place for place in self._places.values() if place.is_idle]
            if self._starter.spares:
                self._ending += 1
                self._spawn(self._end_spare(*self._starter.spares.pop(0)))
            elif idle:
                self._end(min(idle, key=lambda place: place.used), "room")
            else:
                return

    def _end(self, place: Place, why: str) -> None:
        self._counters.count("sandbox_ends", why=why)
        self._ending += 1
        place.work = self._spawn(self._ended(place))

    async def _ended(self, place: Place) -> None:
        try:
            await self._clear(place)
        finally:
            self._ending -= 1
            place.work = None

    async def _clear(self, place: Place, *, workspace: bool = False) -> None:
        try:
            await self._starter.clear(place, workspace=workspace)
        finally:
            if place.has_room:
                place.has_room = False
                self._room.give(place.tenant)

    async def _end_spare(self, name: str, spare: Connected) -> None:
        try:
            await self._starter.remove(name, spare)
        finally:
            self._ending -= 1
            self._room.give(NOBODY)

    def forget(self, session: SessionKey) -> asyncio.Task[None] | None:
        """The session is over: whatever of its sandbox there is, goes. A turn that comes from here on gets a new one.

        What the returned task cannot remove is removed later.
        """
        place = self._places.pop(path_of(session), None)
        if place is None:
            return None
        place.is_forgotten = True
        return self._spawn(self._forgotten(place))

    async def _forgotten(self, place: Place) -> None:
        while place.work is not None:
            await asyncio.wait((place.work,))
        if place.name:
            await self._records.drop(place.name)
        await self._clear(place, workspace=True)
        self._counters.count("sandbox_ends", why="deleted")

    # Beside the uses

    async def watch(self) -> None:
        """Sweep for ever."""
        while True:
            await self._clock.sleep(EVERY)
            try:
                await self.sweep()
            except SandboxUnavailable as error:
                _log.warning("sandboxes_not_swept", error=error.message)

    async def sweep(self) -> None:
        """End what is idle, remove what is too old or nobody's, start spares, and keep when each was last used.

        Raises:
            SandboxUnavailable: the launcher does not answer.
        """
        now, used = self._clock.now(), dict[str, int]()
        for place in list(self._places.values()):
            if place.users:
                place.used = now
            if place.runs:
                used[place.name] = place.used
            unused = (now - place.used) / 1000
            if place.is_idle and (unused >= self._limits.idle or not (place.is_found or place.is_ready)):
                self._end(place, "idle")
            elif not place.runs and not place.users and place.work is None and unused >= self._limits.keep:
                self.forget(SessionKey.parse(place.session))
        await self._records.touch(used)
        await self._starter.reap()
        await self._add_spares()

    async def _add_spares(self) -> None:
        while len(self._starter.spares) < self._limits.spares and self._room.try_take(NOBODY):
            try:
                await self._starter.add_spare()
            except BaseException:
                self._room.give(NOBODY)
                raise

    async def close(self) -> None:
        """End all sandboxes; workspaces stay if they are lasting. What does not end is found at the next start."""
        self._is_closed = True
        for task in self._starts:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for place in list(self._places.values()):
            if not self._limits.is_lasting:
                self.forget(SessionKey.parse(place.session))
            elif place.runs:
                self._end(place, "stopped")
        await self._records.touch({place.name: place.used for place in self._places.values() if place.name})
        while self._starter.spares:
            self._ending += 1
            self._spawn(self._end_spare(*self._starter.spares.pop()))
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._launcher.close()
        self._records.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="sandbox")
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # who waits for it raises it; perhaps nobody does any more
