"""The launcher of bubblewrap sandboxes."""

import asyncio
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from talaria.core.errors import SandboxLost, SandboxUnavailable
from talaria.sandbox.agent import source
from talaria.sandbox.bubblewrap import control_groups, ending
from talaria.sandbox.bubblewrap.descriptors import connected
from talaria.sandbox.bubblewrap.link import SocketLink, linked
from talaria.sandbox.bubblewrap.machine import Machine, look
from talaria.sandbox.bubblewrap.records import Folder, Record, folders, free_uid
from talaria.sandbox.bubblewrap.start import Start, start
from talaria.sandbox.bubblewrap.state import StateFolder
from talaria.sandbox.launcher import Found, Launch, Link, Size

T = TypeVar("T")

UIDS = range(1_900_000_000, 1_900_065_536)
"""The host's uids for sandboxes started by root: above those of people, of systemd and of other containers."""
_TRIAL = "trial"
_TRIAL_SIZE = Size(memory=256 * 1024 * 1024, cpus=1, pids=64, disk=1024 * 1024)
_WAITS = (0.0, *(0.01,) * 20, *(0.1,) * 50)
"""Seconds between looks whether the kernel has emptied a control group."""


class Bubblewrap:
    """Sandboxes by bubblewrap, each with a folder in `state`, which no other process may use meanwhile.

    `root`: a folder shown as the system instead of this machine's. `uids`: the host's uids to run as, if we are root;
    each sandbox has its own. `agent` returns the source of the program that runs inside.
    """

    def __init__(
        self, state: Path, *, root: Path | None = None, uids: range = UIDS, agent: Callable[[], str] = source
    ) -> None:
        """Nothing is touched yet."""
        self._state = StateFolder(state.absolute())
        self._agent = agent
        self._root = root.absolute() if root else None
        self._uids = uids
        self.deployment = hashlib.sha256(os.fsencode(self._state.path)).hexdigest()[:8]
        self._machine: Machine | None = None
        self._choosing = asyncio.Lock()
        self._children: dict[str, int] = {}

    @property
    def kind(self) -> str:
        """Bubblewrap."""
        return "bubblewrap"

    async def check(self) -> None:
        """Return if sandboxes can be launched here, within all their limits: one is started, and ends as nobody comes.

        Raises:
            SandboxUnavailable: they cannot; the message says what to install or allow.
        """
        trial = Launch(name=_TRIAL, size=_TRIAL_SIZE, labels={}, options={"orphan": 0.1})
        await self._start(trial, to_its_end=True)
        await self.remove(_TRIAL, workspace=True)

    async def launch(self, launch: Launch) -> Link:
        """Start a sandbox on its workspace, made if it is not there, and return the stream to its agent.

        Raises:
            SandboxUnavailable: it cannot be started.
        """
        await self._start(launch)
        return await self.attach(launch.name)

    async def attach(self, name: str) -> SocketLink:
        """Return a new stream to the agent of a sandbox that runs; an older one ends.

        Raises:
            SandboxLost: it does not run.
        """
        folder = self._folder(name)
        try:
            return await linked(connected(folder.socket), folder.complaint)
        except OSError:
            why = await asyncio.to_thread(folder.complaint)
            raise SandboxLost(f"the sandbox has ended{why and f': {why}'}") from None

    async def found(self) -> list[Found]:
        """Return the sandboxes of this deployment.

        Raises:
            SandboxUnavailable: another process uses the state folder.
        """
        return await asyncio.to_thread(self._found)

    async def remove(self, name: str, *, workspace: bool) -> None:
        """End a sandbox, and delete its workspace if asked to. Nothing of it is left then; no error if it is gone.

        Raises:
            SandboxUnavailable: something of it stays.
        """
        folder = self._folder(name)
        if not await asyncio.to_thread(self._is_there, folder):
            return
        await ending.end(folder)
        await asyncio.to_thread(self._bury, name)
        await self._leave_groups(folder)
        if workspace:
            await ending.delete(folder.path)
        else:
            await asyncio.to_thread(folder.clear)

    async def close(self) -> None:
        """Let go of the state folder. Sandboxes go on."""
        await asyncio.to_thread(self._state.release)

    async def _start(self, launch: Launch, *, to_its_end: bool = False) -> None:
        await self.remove(launch.name, workspace=False)
        try:
            async with self._choosing:
                machine, record, program = await _to_its_end(lambda: (*self._prepare(launch), self._agent()))
            what = Start(
                folder=self._folder(launch.name),
                record=record,
                size=launch.size,
                show=machine.show,
                seccomp=machine.seccomp,
                python=machine.python,
                agent=program,
                options=launch.options,
            )
            await _to_its_end(lambda: self._begin(what, to_its_end=to_its_end))
        except (OSError, SandboxUnavailable, asyncio.CancelledError) as error:
            await self.remove(launch.name, workspace=to_its_end)
            if isinstance(error, OSError):
                raise SandboxUnavailable(f"bubblewrap cannot start a sandbox here: {error}") from error
            raise

    def _prepare(self, launch: Launch) -> tuple[Machine, Record]:
        """Keep a record of what is about to be there, then make its groups."""
        self._state.take()
        machine = self._machine = self._machine or look(self._root)
        folder = self._folder(launch.name)
        before = folder.load()
        uid = None
        if os.geteuid() == 0:
            uid = before.uid if before else free_uid(self._state.path, self._uids, launch.name)
        name = f"{self.deployment}-{launch.name}"
        groups = control_groups.names(machine.groups, name)
        record = Record(labels=dict(launch.labels), uid=uid, groups=[str(group) for group in groups])
        folder.save(record)
        control_groups.make(machine.groups, name, launch.size)
        return machine, record

    def _begin(self, what: Start, *, to_its_end: bool) -> None:
        self._children[what.folder.name] = start(what, to_its_end=to_its_end)

    def _bury(self, name: str) -> None:
        """Of a sandbox that has ended, what is left of the bubblewrap that waited for it."""
        child = self._children.pop(name, None)
        if child is not None:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)

    async def _leave_groups(self, folder: Folder) -> None:
        record = await asyncio.to_thread(folder.load)
        groups = [Path(group) for group in record.groups] if record else []
        for wait in _WAITS:
            await asyncio.sleep(wait)
            if await asyncio.to_thread(control_groups.remove, groups):
                return
        raise SandboxUnavailable(f"control groups of a sandbox stay in use: {', '.join(map(str, groups))}")

    def _found(self) -> list[Found]:
        self._state.take()
        pairs = ((folder, folder.load()) for folder in folders(self._state.path))
        return [Found(each.name, record.labels, each.process() is not None) for each, record in pairs if record]

    def _is_there(self, folder: Folder) -> bool:
        self._state.take()
        return folder.path.exists()

    def _folder(self, name: str) -> Folder:
        return Folder(self._state.path / name)


async def _to_its_end(work: Callable[[], T]) -> T:
    """Do work in a thread; when cancelled, wait until it is through nevertheless, so that it can be undone."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
