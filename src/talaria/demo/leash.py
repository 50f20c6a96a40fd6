"""Starts a program that the kernel ends when its parent dies: `python leash.py parent program argument…` becomes it.

Run by its path, in an interpreter of its own, because between fork and exec almost nothing is safe to do. Only Linux
has this leash; elsewhere the program runs without it.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html; it survives exec."""


def main(parent: int, command: list[str]) -> None:
    """Tie this process to its parent, whose process id is given, and become the program."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit("the process that started this one is gone")
    os.execv(command[0], command)  # noqa: S606 - the demo's own programs, no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
