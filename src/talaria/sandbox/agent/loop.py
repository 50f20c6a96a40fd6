"""The agent's loop: files that are ready, times that have come, and work in small steps."""

import heapq
import select
import time
from collections import deque
from collections.abc import Callable, Iterator

READ = select.EPOLLIN
WRITE = select.EPOLLOUT


class Loop:
    """Calls what was asked for, one at a time. Nothing in it may block."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._ready: dict[int, Callable[[int], object]] = {}
        self._timers: list[tuple[float, int, Callable[[], object]]] = []
        self._count = 0
        self._jobs: deque[Iterator[object]] = deque()

    def watch(self, fd: int, events: int, callback: "Callable[[int], object]") -> None:
        """Call back when the file can be read or written; with no events, not for now."""
        if not events:
            self.forget(fd)
            return
        known = fd in self._ready
        self._ready[fd] = callback
        if known:
            self._poll.modify(fd, events)
        else:
            self._poll.register(fd, events)

    def forget(self, fd: int) -> None:
        """Call back no more for this file, which is to be closed."""
        if self._ready.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def after(self, seconds: float, callback: "Callable[[], object]") -> None:
        """Call back after some seconds, once; a timer cannot be taken back."""
        self._count += 1
        heapq.heappush(self._timers, (time.monotonic() + seconds, self._count, callback))

    def job(self, steps: "Iterator[object]") -> None:
        """Go through an iterator, a step between other things."""
        self._jobs.append(steps)

    def once(self) -> None:
        """Wait for something, and do it."""
        wait = -1.0
        if self._jobs:
            wait = 0.0
        elif self._timers:
            wait = max(0.0, self._timers[0][0] - time.monotonic())
        for fd, events in self._poll.poll(wait):
            callback = self._ready.get(fd)
            if callback is not None:
                callback(events)
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()
        if self._jobs:
            steps = self._jobs.popleft()
            if next(steps, self) is not self:
                self._jobs.append(steps)
