"""The shim: the parent of a command, which adopts all that the command leaves behind."""

import os
import resource
import signal

from talaria.sandbox.agent.kernel import adopt


class Request:
    """What to run: the fields of a request, and the folder to run it in, open."""

    def __init__(self, fields: "list[bytes]", cwd: int, largest: int) -> None:
        _, timeout, head, tail, stdin, count = fields[:6]
        self.timeout = float(timeout) if timeout else 0.0
        self.head = int(head)
        self.tail = int(tail)
        self.stdin = bool(stdin)
        split = 6 + int(count)
        self.environment = dict(field.split(b"=", 1) for field in fields[6:split])
        self.argv = fields[split:]
        self.cwd = cwd
        self.largest = largest


def run_shim(request: Request, pipes: "tuple[int, int, int]", environment: "dict[bytes, bytes]") -> None:
    """Be the shim: adopt what the command leaves behind, until it ends, and say how. Never returns."""
    code = b"126"
    status = pipes[2]
    try:
        os.setsid()
        adopt()
        for number in range(1, signal.NSIG):
            _set_signal(number, signal.SIG_IGN if number != signal.SIGCHLD else signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        source, out, status = pipes
        _close_others((*pipes, request.cwd))
        try:
            command = os.fork()
        except OSError as error:
            os.write(out, b"talaria: " + os.fsencode(os.strerror(error.errno or 0)) + b"\n")
            raise
        if command == 0:
            _become(request, source, out, environment)
        for fd in (source, out, request.cwd):
            os.close(fd)
        pid, ended = os.wait()
        while pid != command:
            pid, ended = os.wait()
        code = b"%d" % (os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else 128 + os.WTERMSIG(ended))
    finally:
        os.write(status, code)
        os._exit(0)


def _close_others(keep: "tuple[int, ...]") -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in keep:
            try:
                os.close(int(name))
            except OSError:
                pass


def _set_signal(number: int, action: signal.Handlers) -> None:
    try:
        signal.signal(number, action)
    except (OSError, ValueError):
        pass


def _become(request: Request, source: int, out: int, environment: "dict[bytes, bytes]") -> None:
    try:
        os.setsid()
        for number in range(1, signal.NSIG):
            _set_signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.fchdir(request.cwd)
        for target, fd in ((0, source), (1, out), (2, out)):
            os.dup2(fd, target)
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
        code, words = 126, os.fsencode(os.strerror(error.errno or 0))
    os.write(2, b"talaria: " + request.argv[0] + b": " + words + b"\n")
    os._exit(code)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
