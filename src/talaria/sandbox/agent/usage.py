"""How much the workspace holds, counted again and again while anything runs in it."""

import os
import stat
import time
from collections.abc import Callable, Iterator

from talaria.sandbox.agent.loop import Loop
from talaria.sandbox.agent.paths import Paths

_STEP = 500
_BETWEEN = 0.25
_SHARE = 10
"""Counting may take this part of the time."""
_DEEPEST = 400
"""Folders within folders that can be counted; below, the workspace is taken for full."""
_LEAST = 4096
"""Bytes that the smallest file is taken for, as it needs its place in the file system, too."""


class Usage:
    """Bytes in the workspace, to the last count.

    When they are more than `limit` (0: any) and have become more since the count before, `over` is called with the
    times of that count and of this one: what ran already at the first may be why, else what began between them. What
    makes room again goes on.
    """

    def __init__(self, loop: Loop, paths: Paths, limit: int, over: "Callable[[float, float], object]") -> None:
        self._loop = loop
        self._paths = paths
        self._limit = limit
        self._over = over
        self._counting = False
        self._busy = False
        self._began = 0.0
        self.bytes = 0
        self.count()

    def fits(self, size: int) -> bool:
        """Return whether a file of this size may be added."""
        return not self._limit or self.bytes + size <= self._limit

    def add(self, size: int) -> None:
        """A file was written."""
        self.bytes += size

    def busy(self, busy: bool) -> None:
        """Say whether anything runs: then it is counted again and again, and once more afterwards."""
        self._busy = busy
        self.count()

    def count(self) -> None:
        """Count, unless it is being done."""
        if self._limit and not self._counting:
            self._counting = True
            self._loop.job(self._count())

    def _count(self) -> "Iterator[None]":
        before, self._began = self._began, time.monotonic()
        seen: set[int] = set()
        total = 0
        try:
            folder = os.open(self._paths.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for size in self._sizes(folder, seen, _DEEPEST):
                total += size
                yield
            for size in self._nameless(os.stat(self._paths.folder).st_dev, seen):
                total += size
                yield
        except OSError:
            total = max(total, self.bytes)
        grown = total > self.bytes
        self.bytes = total
        self._counting = False
        if total > self._limit and grown:
            self._over(before, self._began)
        if self._busy:
            self._loop.after(max(_BETWEEN, (time.monotonic() - self._began) * _SHARE), self.count)

    def _nameless(self, device: int, seen: "set[int]") -> "Iterator[int]":
        """Files that were removed and are open still: they take room until they are closed."""
        for process in os.listdir("/proc"):
            size = 0
            for found in _open_files(process) if process.isdigit() else ():
                if found.st_dev == device and not found.st_nlink and found.st_ino not in seen:
                    seen.add(found.st_ino)
                    size += found.st_blocks * 512
            yield size

    def _sizes(self, folder: int, seen: "set[int]", depth: int) -> "Iterator[int]":
        below: list[str] = []
        size = 0
        try:
            with os.scandir(folder) as entries:
                for count, entry in enumerate(entries):
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    if found.st_nlink == 1 or found.st_ino not in seen:
                        size += max(found.st_blocks * 512, _LEAST)
                    if stat.S_ISDIR(found.st_mode):
                        below.append(entry.name)
                    elif found.st_nlink > 1:
                        seen.add(found.st_ino)
                    if count % _STEP == _STEP - 1:
                        yield size
                        size = 0
            yield size
            if below and depth == 0:
                yield self._limit + 1
                return
            for name in below:
                try:
                    deeper = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                except OSError:
                    continue
                yield from self._sizes(deeper, seen, depth - 1)
        finally:
            os.close(folder)


def _open_files(process: str) -> "Iterator[os.stat_result]":
    folder = f"/proc/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.stat(f"{folder}/{name}")
        except OSError:
            continue
