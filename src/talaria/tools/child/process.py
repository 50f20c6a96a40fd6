"""The child process of one call: started, listened to, and ended with everything it started."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

from talaria.tools.child import guard
from talaria.tools.child.wire import Emits, Job, Outputs, Raised, Returned, framed, read_message
from talaria.tools.context import Outlet

ENDING = 5.0
"""Seconds that the guard has to end the group before it is ended from here."""


class ChildProcess:
    """Runs one job. `run` belongs on a thread of its own; `kill` may be called from any other."""

    def __init__(self, job: Job, outlet: Outlet) -> None:
        self._job = framed(job)
        self._path = job.path
        self._outlet = outlet
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_waiting = False  # the guard has the job: a byte ends it
        self._is_killed = False
        self._is_over = False

    def run(self) -> Returned | Raised | None:
        """Return how the call ended, or None if its process ended without saying so."""
        with self._lock:
            if self._is_killed:
                return None
            command = (sys.executable, "-P", guard.__file__, *self._path)
            process = self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with a file of this package
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1, start_new_session=True
            )
        try:
            self._send(process)
            return self._listen(process)
        finally:
            self._end(process)

    def kill(self) -> None:
        """End the process and all it started, now; returns at once."""
        with self._lock:
            self._is_killed = True
            if self._process is None or self._is_over:
                return
            if not (self._is_waiting and _ring(self._process)):
                _kill_group(self._process)

    def _send(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it was killed
            process.stdin.write(self._job)
            process.stdin.flush()
        with self._lock:
            os.set_blocking(process.stdin.fileno(), False)
            self._is_waiting = True

    def _listen(self, process: subprocess.Popen[bytes]) -> Returned | Raised | None:
        assert process.stdout is not None
        while True:
            match read_message(process.stdout):  # pyright: ignore[reportArgumentType]
                case Emits(name, data):
                    with suppress(ValueError):  # the child has the same limits, and says so to the tool
                        self._outlet.emit(name, data)
                case Outputs(text):
                    self._outlet.output(text)
                case ended:
                    return ended

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self.kill()
        with self._lock:
            self._is_over = True  # from here on its number may be another's
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError, BlockingIOError):
                    pipe.close()


def _ring(process: subprocess.Popen[bytes]) -> bool:
    """Tell the guard to end the group; False if it has to be done from here."""
    assert process.stdin is not None
    try:
        return os.write(process.stdin.fileno(), b"\n") == 1
    except (BlockingIOError, BrokenPipeError):
        return False


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it has ended; the number is its own until it is waited for
        os.killpg(process.pid, signal.SIGKILL)
