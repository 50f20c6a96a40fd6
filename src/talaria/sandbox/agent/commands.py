"""Commands: one process under a shim each, with what they write and how they end."""

import os
import signal
import time

from talaria.sandbox.agent.loop import READ, WRITE, Loop
from talaria.sandbox.agent.memory import Memory
from talaria.sandbox.agent.paths import Paths
from talaria.sandbox.agent.processes import Processes
from talaria.sandbox.agent.session import Channel, Output, Session
from talaria.sandbox.agent.shim import Request, run_shim
from talaria.sandbox.agent.usage import Usage
from talaria.sandbox.frames import LARGEST

_DRAIN = 1024 * 1024
_KILLED = 128 + signal.SIGKILL


class Kept:
    """The first and the last bytes of what a command writes."""

    def __init__(self, head: int, tail: int) -> None:
        self._head = head
        self._tail = tail
        self.fresh = bytearray()
        self._last = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        """Keep what is to be kept; what belongs to the head waits in `fresh`."""
        room = max(self._head - self._total, 0)
        self._total += len(data)
        self.fresh += data[:room]
        self._last += data[room:]
        if len(self._last) > self._tail * 2 + LARGEST:
            self._cut()

    def close(self) -> "tuple[bytes, int]":
        """Return the tail, and how many bytes are lost between it and the head."""
        self._cut()
        return bytes(self._last), max(self._total - self._head, 0) - len(self._last)

    def _cut(self) -> None:
        del self._last[: max(len(self._last) - self._tail, 0)]


class Exec(Channel):
    """A command that runs."""

    def __init__(self, session: Session, number: int, commands: "Commands", request: Request) -> None:
        super().__init__(session, number)
        self._commands = commands
        self._kept = Kept(request.head, request.tail)
        self._reason = b"exited"
        self._result: tuple[bytes, ...] | None = None
        self._closed = False
        self._shim = 0
        self.began = time.monotonic()
        self._out, out = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(out, True)
        self._status, status = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._in = -1
        self._input = Output(-1, self._fed)
        self._input_ends = False
        source = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        if request.stdin:
            os.close(source)
            source, self._in = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self._in, False)
            self._input = Output(self._in, self._fed)

        self._ooms = commands.memory.count()
        try:
            self._shim = os.fork()
            if self._shim == 0:
                run_shim(request, (source, out, status), commands.environment)
        finally:
            for fd in (source, out, status):
                os.close(fd)
            if self._shim == 0:
                self._let_go()
        commands.started(self, self._shim)
        commands.loop.watch(self._out, READ, self._read)
        if request.timeout:
            commands.loop.after(request.timeout, lambda: self.kill(b"timeout"))

    def kill(self, reason: bytes) -> None:
        """End it, unless it has ended."""
        if self._shim:
            self._reason = reason
            os.kill(self._shim, signal.SIGKILL)

    def ended(self) -> None:
        """The shim is gone: all that is left of the command follows it, then there is a result."""
        self._shim = 0
        self._commands.ended(self)

    def finish(self) -> None:
        """Nothing of it runs any more."""
        for _ in range(_DRAIN // LARGEST):
            if not self._read():
                break
        try:
            code = int(os.read(self._status, 16))
        except (OSError, ValueError):
            code = _KILLED
        if self._reason == b"exited" and code == _KILLED and self._commands.memory.count() > self._ooms:
            self._reason = b"memory"
        if self._reason != b"exited":
            code = _KILLED
        self._let_go()
        tail, dropped = self._kept.close()
        self._kept.fresh += tail
        self._result = (b"ok", b"%d" % code, self._reason, b"%d" % dropped, b"%d" % len(tail))
        self.pump()

    def _read(self, _events: int = 0) -> bool:
        try:
            data = os.read(self._out, LARGEST)
        except BlockingIOError:
            return False
        if not data:
            self._commands.loop.forget(self._out)
            return False
        self._kept.add(data)
        self.pump()
        return True

    def pump(self) -> None:
        fresh = self._kept.fresh
        while fresh and self.room():
            part = fresh[: min(self.room(), LARGEST)]
            del fresh[: len(part)]
            self.send(part)
        if self._result is not None and (not fresh or self._closed):
            self.done(*self._result)

    def data(self, payload: bytes) -> None:
        if self._in < 0:
            self.taken(len(payload))
            return
        self._input.write(payload)
        self._feed()

    def end(self) -> None:
        self._input_ends = True
        self._feed()

    def _fed(self, count: int) -> None:
        self.taken(max(count, 0))
        if count < 0:
            self._close_input()

    def _feed(self, events: int = 0) -> None:
        if self._in < 0:
            return
        if events:
            self._input.flush()
        if self._in < 0:
            return
        if self._input.size:
            self._commands.loop.watch(self._in, WRITE, self._feed)
            return
        self._commands.loop.forget(self._in)
        if self._input_ends:
            self._close_input()

    def _close_input(self) -> None:
        if self._in >= 0:
            self._commands.loop.forget(self._in)
            os.close(self._in)
            self._in = -1

    def _let_go(self) -> None:
        self._close_input()
        self._commands.loop.forget(self._out)
        os.close(self._out)
        os.close(self._status)

    def close(self) -> None:
        self._closed = True
        self.kill(b"exited")
        self.pump()


class Commands:
    """All commands that run."""

    def __init__(self, loop: Loop, paths: Paths, disk: int, oom: int) -> None:
        self.loop = loop
        self.memory = Memory(oom)
        self.environment: dict[bytes, bytes] = {}
        self.usage = Usage(loop, paths, disk, self._over)
        self.processes = Processes(loop)
        self._paths = paths
        self._disk = disk
        self._running: set[Exec] = set()

    @property
    def busy(self) -> bool:
        """Whether anything runs."""
        return bool(self._running)

    def start(self, session: Session, number: int, fields: "list[bytes]") -> None:
        """Run a command on a channel."""
        cwd = self._paths.open_folder(os.fsdecode(fields[0]))
        try:
            Exec(session, number, self, Request(fields, cwd, self._disk))
        finally:
            os.close(cwd)

    def started(self, command: Exec, shim: int) -> None:
        """Tell it when its shim ends."""
        self._running.add(command)
        self.processes.shims[shim] = command.ended
        self.usage.busy(True)

    def ended(self, command: Exec) -> None:
        """Clean up behind it."""
        self.processes.sweep(lambda: self._finish(command))

    def _finish(self, command: Exec) -> None:
        self._running.discard(command)
        self.usage.busy(bool(self._running))
        command.finish()

    def _over(self, before: float, now: float) -> None:
        ran = [command for command in self._running if command.began < before]
        for command in ran or [command for command in self._running if command.began < now]:
            command.kill(b"disk")
