"""The agent's loop: files that are ready, times that have come, and work in small steps."""

import heapq
import select
import time
from collections import deque

READ = select.EPOLLIN
WRITE = select.EPOLLOUT


class Loop:
    """Calls what was asked for, one at a time. Nothing in it may block."""

    def __init__(self):
        self._poll = select.epoll()
        self._ready = {}
        self._timers = []
        self._count = 0
        self._jobs = deque()

    def watch(self, fd, events, callback):
        """Call back when the file can be read or written; with no events, not any more."""
        known = fd in self._ready
        if not events:
            if known:
                del self._ready[fd]
                self._poll.unregister(fd)
            return
        self._ready[fd] = callback
        (self._poll.modify if known else self._poll.register)(fd, events)

    def after(self, seconds, callback):
        """Call back after some seconds, once; a timer cannot be taken back."""
        self._count += 1
        heapq.heappush(self._timers, (time.monotonic() + seconds, self._count, callback))

    def job(self, steps):
        """Go through an iterator, a step between other things."""
        self._jobs.append(steps)

    def once(self):
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
