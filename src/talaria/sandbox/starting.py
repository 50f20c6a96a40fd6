"""Starting and ending the sandboxes of places, and spares that are started ahead."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.core.ids import new_id
from talaria.sandbox.launcher import Launch, Launcher, Link, Size
from talaria.sandbox.place import Connected, Place
from talaria.sandbox.records import Record, Records

START = 60.0
"""Seconds that a sandbox may take to start."""
REACH = 10.0
"""Seconds that one which runs may take to answer."""
END = 20.0
"""Seconds that a sandbox may take to end; what takes longer is tried again later."""
ANEW = (
    "The sandbox was started anew: processes that ran in it and files in /tmp are gone; "
    "files in /workspace are as they were."
)
LOST = "The sandbox was lost with all that was in it: processes, and the files in /tmp and /workspace are gone."

_log = structlog.get_logger("talaria.sandbox")
Connect = Callable[[Link], Awaitable[Connected]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What all sandboxes of a deployment have in common. `connect` meets the agent at the end of a link."""

    launcher: Launcher
    connect: Connect
    size: Size
    options: Mapping[str, str | int | float] = field(default_factory=dict[str, str | int | float])


class Starter:
    """Starts and ends sandboxes. `names`: those that are somebody's, or are just being started or removed."""

    def __init__(self, kind: Kind, records: Records) -> None:
        self.names = set[str]()
        self.spares: list[tuple[str, Connected]] = []
        self._kind = kind
        self._launcher = kind.launcher
        self._records = records

    async def start(self, place: Place, now: int) -> str:
        """Give a place its sandbox; return how: "found", "spare", "again" or "new".

        Raises:
            SandboxUnavailable: it cannot be started.
        """
        try:
            async with asyncio.timeout(START):
                return await self._start(place, now)
        except TimeoutError:
            raise SandboxUnavailable(f"the sandbox did not start within {START:g} s; try again") from None

    async def _start(self, place: Place, now: int) -> str:
        if place.is_found:
            place.is_found = False
            place.sandbox = await self._reach(place.name)
            if place.sandbox is not None:
                return "found"
        if place.name:
            place.sandbox = await self._start_again(place)
            return "again"
        spare = await self._take_spare()
        how = "new" if spare is None else "spare"
        name = self._new_name() if spare is None else spare[0]
        try:
            place.sandbox = await self._launch(name) if spare is None else spare[1]
            await self._records.write(Record(name, place.session, now))
        except BaseException:
            place.sandbox = None
            await self.remove(name)
            raise
        place.name = name
        return how

    async def _reach(self, name: str) -> Connected | None:
        """The sandbox that an earlier process left running, if it answers."""
        try:
            async with asyncio.timeout(REACH):
                return await self._kind.connect(await self._launcher.attach(name))
        except (SandboxUnavailable, TimeoutError) as error:
            _log.warning("sandbox_unreachable", sandbox=name, error=str(error))
            return None

    async def _start_again(self, place: Place) -> Connected:
        """It ran before: nothing of that must be in the way, and whoever uses it is told."""
        await self._launcher.remove(place.name, workspace=False)
        is_there = any(each.name == place.name for each in await self._launcher.found())
        place.note = ANEW if is_there else LOST
        return await self._launch(place.name)

    async def _take_spare(self) -> tuple[str, Connected] | None:
        if not self.spares:
            return None
        name, spare = self.spares.pop(0)
        if not spare.lost:
            return name, spare
        await self.remove(name)
        return None

    def _new_name(self) -> str:
        name = new_id("sandbox")
        self.names.add(name)
        return name

    async def _launch(self, name: str) -> Connected:
        launch = Launch(name=name, size=self._kind.size, labels={}, options=self._kind.options)
        try:
            return await self._kind.connect(await self._launcher.launch(launch))
        except SandboxLost as error:
            raise SandboxUnavailable(f"the sandbox ended while it started: {error.message}") from error

    async def clear(self, place: Place, *, workspace: bool = False) -> None:
        """End the sandbox of a place; what cannot be ended now is ended before it is started again, or reaped."""
        sandbox, place.sandbox, place.is_found = place.sandbox, None, False
        if place.name:
            await self.remove(place.name, sandbox, workspace=workspace)

    async def remove(self, name: str, sandbox: Connected | None = None, *, workspace: bool = True) -> bool:
        """End a sandbox; return whether it has ended."""
        try:
            async with asyncio.timeout(END):
                if sandbox is not None:
                    await sandbox.close()
                await self._launcher.remove(name, workspace=workspace)
        except (SandboxUnavailable, TimeoutError) as error:
            _log.warning("sandbox_not_removed", sandbox=name, error=str(error) or f"more than {END:g} s")
            return False
        finally:
            if workspace:
                self.names.discard(name)
        return True

    async def add_spare(self) -> None:
        """Start one ahead.

        Raises:
            SandboxUnavailable: it cannot be started.
        """
        name = self._new_name()
        try:
            async with asyncio.timeout(START):
                self.spares.append((name, await self._launch(name)))
        except BaseException:
            await self.remove(name)
            raise

    async def reap(self) -> None:
        """Remove the sandboxes of this deployment that are nobody's."""
        for each in await self._launcher.found():
            if each.name not in self.names:
                _log.info("sandbox_reaped", sandbox=each.name)
                await self.remove(each.name)
