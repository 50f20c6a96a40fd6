"""Kill points: places in a server's life that are counted, written down, and at one of which it ends itself."""

import os
import signal
from collections import Counter
from pathlib import Path

import msgspec


class Kill(msgspec.Struct, frozen=True):
    """Where a server ends, and by which signal: at the `nth` time that it reaches `point`.

    The point `moment` is `nth` milliseconds after the start, whatever the server does then.
    """

    point: str
    nth: int = 1
    signal: int = signal.SIGKILL

    def __str__(self) -> str:
        return f"{self.point}#{self.nth}"

    @property
    def is_moment(self) -> bool:
        """Whether it is a time, kept by the test and not by the server."""
        return self.point == "moment"


class Points:
    """Counts the points that this process reaches. Each is a line of `path`, gone to the kernel before it goes on."""

    def __init__(self, path: Path, kill: Kill | None) -> None:
        self._counts: Counter[str] = Counter()
        self._kill = kill
        self._log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def hits(self, point: str) -> bool:
        """Count a point; whether this is where to end."""
        self._counts[point] += 1
        nth = self._counts[point]
        os.write(self._log, f"{point}#{nth}\n".encode())
        return self._kill is not None and (self._kill.point, self._kill.nth) == (point, nth)

    def reach(self, point: str) -> None:
        """Count a point, and end here if that is planned."""
        if self.hits(point):
            self.end()

    def end(self) -> None:
        """Send this process its signal. After SIGKILL nothing follows, after SIGTERM the orderly end."""
        assert self._kill is not None
        os.kill(os.getpid(), self._kill.signal)


def read_points(path: Path) -> list[str]:
    """All points that the servers of a trial reached, in order."""
    return path.read_text().splitlines() if path.exists() else []
