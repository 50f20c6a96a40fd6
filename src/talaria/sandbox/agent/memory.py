"""What the kernel ended for want of memory."""

import os


class Memory:
    """Counts what the kernel ended for want of memory."""

    _PLACES = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")

    def __init__(self, fd: int) -> None:
        self._fd = fd
        for place in self._PLACES:
            if self._fd < 0:
                try:
                    self._fd = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    pass

    def count(self) -> int:
        """Return how many there were."""
        try:
            lines = os.pread(self._fd, 4096, 0).splitlines() if self._fd >= 0 else []
        except OSError:
            return 0
        return sum(int(line.split()[1]) for line in lines if line.startswith(b"oom_kill "))
