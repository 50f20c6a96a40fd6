"""Commands: one process under a shim each, with what they write and how they end."""

import os
import resource
import signal

from talaria.sandbox.agent.kernel import adopt
from talaria.sandbox.agent.loop import READ, WRITE
from talaria.sandbox.agent.session import Channel, Output
from talaria.sandbox.frames import LARGEST

_DRAIN = 1024 * 1024
_KILLED = 128 + signal.SIGKILL


class Kept:
    """The first and the last bytes of what a command writes."""

    def __init__(self, head, tail):
        self._head = head
        self._tail = tail
        self.fresh = bytearray()
        self._last = bytearray()
        self._total = 0

    def add(self, data):
        """Keep what is to be kept; what belongs to the head waits in `fresh`."""
        room = max(self._head - self._total, 0)
        self._total += len(data)
        self.fresh += data[:room]
        self._last += data[room:]
        if len(self._last) > self._tail * 2 + LARGEST:
            self._cut()

    def close(self):
        """Return the tail, and how many bytes are lost between it and the head."""
        self._cut()
        return bytes(self._last), max(self._total - self._head, 0) - len(self._last)

    def _cut(self):
        del self._last[: max(len(self._last) - self._tail, 0)]


class Exec(Channel):
    """A command that runs."""

    def __init__(self, session, number, commands, request):
        super().__init__(session, number)
        self._commands = commands
        self._kept = Kept(request.head, request.tail)
        self._reason = b"exited"
        self._result = None
        self._closed = False
        self._shim = 0
        self._out, out = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(out, True)
        self._status, status = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._in = -1
        source = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        if request.stdin:
            os.close(source)
            source, self._in = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self._in, False)
            self._input = Output(commands.loop, self._in, self._fed)
            self._input_ends = False
        self._ooms = commands.memory.count()
        try:
            self._shim = os.fork()
            if self._shim == 0:
                run_shim(request, source, out, status, commands.environment)
        finally:
            for fd in (source, out, status, request.cwd):
                os.close(fd)
            if self._shim == 0:
                self._let_go()
        commands.started(self, self._shim)
        commands.loop.watch(self._out, READ, self._read)
        if request.timeout:
            commands.loop.after(request.timeout, lambda: self.kill(b"timeout"))

    def kill(self, reason):
        """End it, unless it has ended."""
        if self._shim:
            self._reason = reason
            os.kill(self._shim, signal.SIGKILL)

    def ended(self):
        """The shim is gone: all that is left of the command follows it, then there is a result."""
        self._shim = 0
        self._commands.ended(self)

    def finish(self):
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

    def _read(self, _events=0):
        try:
            data = os.read(self._out, LARGEST)
        except BlockingIOError:
            return False
        if not data:
            self._commands.loop.watch(self._out, 0, None)
            return False
        self._kept.add(data)
        self.pump()
        return True

    def pump(self):
        fresh = self._kept.fresh
        while fresh and self.room():
            part = fresh[: min(self.room(), LARGEST)]
            del fresh[: len(part)]
            self.send(part)
        if self._result is not None and (not fresh or self._closed):
            self.done(*self._result)

    def data(self, payload):
        if self._in < 0:
            self.taken(len(payload))
            return
        self._input.write(payload)
        self._feed()

    def end(self):
        self._input_ends = True
        self._feed()

    def _fed(self, count):
        self.taken(max(count, 0))
        if count < 0:
            self._close_input()

    def _feed(self, _events=0):
        if self._in < 0:
            return
        if _events:
            self._input.flush()
        if self._in < 0:
            return
        if self._input.size:
            self._commands.loop.watch(self._in, WRITE, self._feed)
            return
        self._commands.loop.watch(self._in, 0, None)
        if self._input_ends:
            self._close_input()

    def _close_input(self):
        if self._in >= 0:
            self._commands.loop.watch(self._in, 0, None)
            os.close(self._in)
            self._in = -1

    def _let_go(self):
        self._close_input()
        self._commands.loop.watch(self._out, 0, None)
        os.close(self._out)
        os.close(self._status)

    def close(self):
        self._closed = True
        self.kill(b"exited")
        self.pump()


class Memory:
    """Counts what the kernel ended for want of memory."""

    _PLACES = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")

    def __init__(self, fd):
        self._fd = fd
        for place in self._PLACES:
            if self._fd < 0:
                try:
                    self._fd = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    pass

    def count(self):
        """Return how many there were."""
        try:
            lines = os.pread(self._fd, 4096, 0).splitlines() if self._fd >= 0 else []
        except OSError:
            return 0
        return sum(int(line.split()[1]) for line in lines if line.startswith(b"oom_kill "))


class Request:
    """What to run."""

    def __init__(self, paths, fields):
        cwd, timeout, head, tail, stdin, count = fields[:6]
        self.timeout = float(timeout) if timeout else 0
        self.head = int(head)
        self.tail = int(tail)
        self.stdin = bool(stdin)
        split = 6 + int(count)
        self.environment = dict(field.split(b"=", 1) for field in fields[6:split])
        self.argv = fields[split:]
        self.largest = 0
        self.cwd = paths.open_folder(os.fsdecode(cwd))


class Commands:
    """All commands that run."""

    def __init__(self, loop, processes, memory, environment):
        self.loop = loop
        self.memory = memory
        self.environment = environment
        self.usage = None
        self.largest = 0
        self._processes = processes
        self._running = set()

    def start(self, session, number, paths, fields):
        """Run a command on a channel."""
        request = Request(paths, fields)
        request.largest = self.largest
        Exec(session, number, self, request)

    def started(self, command, shim):
        """Tell it when its shim ends."""
        self._running.add(command)
        self._processes.shims[shim] = command.ended
        self.usage.busy(True)

    def ended(self, command):
        """Clean up behind it."""
        self._processes.sweep(lambda: self._finish(command))

    def _finish(self, command):
        self._running.discard(command)
        self.usage.busy(bool(self._running))
        command.finish()

    def kill(self, reason):
        """End all."""
        for command in list(self._running):
            command.kill(reason)


def run_shim(request, source, out, status, environment):
    """Be the shim: adopt what the command leaves behind, until it ends, and say how. Never returns."""
    code = b"126"
    try:
        os.setsid()
        adopt()
        for number in range(1, signal.NSIG):
            _set_signal(number, signal.SIG_IGN if number != signal.SIGCHLD else signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        source, out, status, cwd = _only(source, out, status, request.cwd)
        try:
            command = os.fork()
        except OSError as error:
            os.write(out, b"talaria: " + os.fsencode(os.strerror(error.errno)) + b"\n")
            raise
        if command == 0:
            _become(request, source, out, cwd, environment)
        for fd in (source, out, cwd):
            os.close(fd)
        pid = 0
        while pid != command:
            pid, ended = os.wait()
        code = b"%d" % (os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else 128 + os.WTERMSIG(ended))
    finally:
        os.write(status, code)
        os._exit(0)


def _only(*keep):
    high = [os.dup2(fd, 900 + at, inheritable=False) for at, fd in enumerate(keep)]
    os.closerange(0, 900)
    os.closerange(900 + len(keep), 65536)
    return high


def _set_signal(number, action):
    try:
        signal.signal(number, action)
    except (OSError, ValueError):
        pass


def _become(request, source, out, cwd, environment):
    try:
        os.setsid()
        for number in range(1, signal.NSIG):
            _set_signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.fchdir(cwd)
        for target, fd in ((0, source), (1, out), (2, out)):
            os.dup2(fd, target)
        os.closerange(3, 65536)
        _limit(resource.RLIMIT_CORE, 0)
        if request.largest:
            _limit(resource.RLIMIT_FSIZE, request.largest)
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("500")
    except OSError:
        pass
    try:
        os.execvpe(request.argv[0], request.argv, {**environment, **request.environment})
    except FileNotFoundError:
        code, words = 127, b"not found"
    except OSError as error:
        code, words = 126, os.fsencode(os.strerror(error.errno))
    os.write(2, b"talaria: " + request.argv[0] + b": " + words + b"\n")
    os._exit(code)


def _limit(which, value):
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
