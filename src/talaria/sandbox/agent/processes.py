"""Which processes are left over, and how they are ended however they hide.

Every command runs under a shim, which adopts what the command starts. When a shim ends, what was under it comes to the
agent; so a child of the agent that is no shim is left over, and all that descends from it.
"""

import os
import signal
from collections.abc import Callable

from talaria.sandbox.agent.loop import Loop

_FREEZE_AFTER = 10
"""Rounds after which everything is stopped at once, to catch what forks faster than it can be looked at."""
_PAUSE = 0.002
_LONGEST_PAUSE = 0.1


def table() -> "dict[int, int]":
    """Return the parent of every living process."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    fields = stat.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in (b"Z", b"X"):
                parents[int(name)] = int(fields[1])
    return parents


class Processes:
    """The children of the agent: shims, by what is to be told when they end, and what is left over."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._me = os.getpid()
        self.shims: dict[int, Callable[[], object]] = {}
        self._waiting: list[Callable[[], object]] = []
        self._rounds = 0
        self._sweeping = False

    def reap(self) -> bool:
        """Take the dead; a shim among them is told so. Returns whether there were any."""
        any_dead = False
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return any_dead
            if pid == 0:
                return any_dead
            any_dead = True
            ended = self.shims.pop(pid, None)
            if ended is not None:
                ended()

    def sweep(self, then: "Callable[[], object]") -> None:
        """End what is left over; `then` is called when there is nothing."""
        self._waiting.append(then)
        self._rounds = 0
        if not self._sweeping:
            self._sweeping = True
            self._sweep()

    def _sweep(self) -> None:
        self._rounds += 1
        frozen = self._me == 1 and self._rounds % _FREEZE_AFTER == 0
        if frozen:
            _kill(-1, signal.SIGSTOP)
        clean = self._end_strays()
        if frozen:
            _kill(-1, signal.SIGCONT)
        if not clean:
            self._loop.after(min(_PAUSE * self._rounds, _LONGEST_PAUSE), self._sweep)
            return
        self._sweeping = False
        waiting = self._waiting
        self._waiting = []
        for then in waiting:
            then()

    def _end_strays(self) -> bool:
        strays, unsure = self._strays()
        for pid in strays:
            _kill(pid, signal.SIGSTOP)
        for pid in strays:
            _kill(pid, signal.SIGKILL)
        return not (self.reap() or strays or unsure)

    def _strays(self) -> "tuple[list[int], bool]":
        parents = table()
        strays: list[int] = []
        unsure = False
        for pid in parents:
            top = pid
            seen = 0
            while parents.get(top, 0) not in (0, self._me) and top not in self.shims and seen < len(parents):
                top = parents[top]
                seen += 1
            if top not in parents:
                unsure = True
            elif parents[top] == self._me and top not in self.shims:
                strays.append(pid)
        return strays, unsure


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass
