"""The guard: a small process that leads the group of the worker, and ends it when it is no longer wanted.

Run as a script with the standard library alone, so that it is quick and nothing can hold it up. It reads the job from
its input, forks the worker, and waits: a byte, or the end of the input because the server is gone, ends the group.
"""

import os
import signal
import sys
from contextlib import suppress


def _read_job() -> bytes:
    with open(0, "rb", closefd=False) as pipe:
        return pipe.read(int.from_bytes(pipe.read(4), "big"))


def _work(job: bytes, path: list[str], guard: int) -> None:
    _die_with_the_guard(guard)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[:] = path
    from talaria.tools.child.worker import work  # noqa: PLC0415 - found on the server's path only

    work(job)


def _die_with_the_guard(guard: int) -> None:
    """Should somebody kill the guard, the worker ends, too (Linux)."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - the guard does not need it

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != guard:
        os._exit(1)


def main() -> None:
    """Read the job, fork the worker, wait for the end."""
    job = _read_job()
    guard = os.getpid()
    worker = os.fork()
    if worker == 0:
        try:
            _work(job, sys.argv[1:], guard)
        finally:
            os._exit(1)
    os.close(1)  # the worker alone holds it: when it ends, the server reads so
    os.read(0, 1)
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(worker, 0)
    os.killpg(0, signal.SIGKILL)  # what the tool started, and itself


if __name__ == "__main__":
    main()
