"""A process that has imported everything and forks a server for each line of its input: a start costs no import."""

import gc
import os
import select
import signal
import socket
import sys
import traceback

import msgspec

from tests.crash.server import Said, Start, say, serve, warm


def _wake(_: int, __: object) -> None:
    """Nothing: that there was a signal is told by the wake-up file."""


class Zygote:
    """Forks servers and tells how they end. When its input ends, it and all of them do."""

    def __init__(self) -> None:
        self._servers: dict[int, int] = {}
        self._woken, self._wakes = socket.socketpair()
        self._wakes.setblocking(False)
        self._rest = b""

    def run(self) -> None:
        """Serve lines until there are no more."""
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(self._wakes.fileno())
        warm()
        gc.freeze()
        while True:
            ready, _, _ = select.select([0, self._woken], [], [])
            if self._woken in ready:
                self._woken.recv(1024)
                self._reap()
            if 0 in ready and not self._read():
                break
        for pid in self._servers:
            os.kill(pid, signal.SIGKILL)

    def _read(self) -> bool:
        data = os.read(0, 65536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._fork(msgspec.json.decode(line, type=Start))
        return bool(data)

    def _fork(self, start: Start) -> None:
        pid = os.fork()
        if pid == 0:
            self._become(start)
        self._servers[pid] = start.id
        say(1, Said(start.id, pid=pid))

    def _become(self, start: Start) -> None:
        code = 70
        try:
            signal.set_wakeup_fd(-1)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            serve(start, os.dup(1))
            code = 0
        except BaseException:  # noqa: BLE001 - the process's boundary
            traceback.print_exc()
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while self._servers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            say(1, Said(self._servers.pop(pid), status=os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    sys.exit(Zygote().run())
