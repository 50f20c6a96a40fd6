"""A bell: how threads call into the event loop.

`call_soon_threadsafe` costs a write, two reads and an exception for every call. Where there is an eventfd (Linux), this
costs one write and one read, however many calls have gathered by then.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any


class Bell:
    """Takes calls from any thread and makes them on the loop in which it was made, in order."""

    __slots__ = ("_calls", "_closed", "_eventfd", "_lock", "_loop")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: deque[tuple[Callable[[Any], None], object]] = deque()
        self._eventfd: int | None = None
        self._lock = Lock()  # an abandoned tool may ring at any time, and a closed number may be another file's
        self._closed = False
        if hasattr(os, "eventfd"):
            self._eventfd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            self._loop.add_reader(self._eventfd, self._hear, self._eventfd)

    def ring(self, call: Callable[[Any], None], argument: object) -> None:
        """Have `call(argument)` called on the loop; nothing comes of it once the bell or the loop is closed."""
        with self._lock:
            if self._closed:
                return
            self._calls.append((call, argument))
            if self._eventfd is not None:
                os.eventfd_write(self._eventfd, 1)
                return
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._answer)

    def close(self) -> None:
        """Let go of the eventfd. Whoever rings later is not heard."""
        with self._lock:
            self._closed = True
            eventfd, self._eventfd = self._eventfd, None
        if eventfd is not None:
            self._loop.remove_reader(eventfd)
            os.close(eventfd)

    def _hear(self, eventfd: int) -> None:
        os.eventfd_read(eventfd)
        self._answer()

    def _answer(self) -> None:
        calls = self._calls
        try:
            while calls:
                call, argument = calls.popleft()
                call(argument)
        finally:
            if calls:  # one of them failed: the loop's handler is told, and the others come next
                self._loop.call_soon(self._answer)
