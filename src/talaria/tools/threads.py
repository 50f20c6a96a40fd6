"""Daemon threads for blocking tools: a bounded, counted pool whose stuck threads are abandoned, not waited for."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from talaria.core.errors import Overloaded
from talaria.threads.bell import Bell

Job = tuple[Callable[[], Any], asyncio.Future[Any], Bell]
Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]


class ThreadPool:
    """Runs blocking functions. At most `limit` threads, stuck ones included; idle ones are kept."""

    def __init__(self, limit: int = 32) -> None:
        self._limit = limit
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads = 0
        self._busy = 0
        self._stuck = 0
        self._slots = asyncio.Semaphore(limit)
        self._bell: Bell | None = None
        self._is_closed = False

    @property
    def stuck(self) -> int:
        """How many threads still run a function that nobody waits for any more."""
        return self._stuck

    async def run(self, fn: Callable[[], Any]) -> Any:
        """Return what `fn` returns, or raise what it raises.

        When the caller is cancelled the thread goes on and counts as stuck until it ends.

        Raises:
            Overloaded: every thread is stuck.
        """
        if self._stuck >= self._limit:
            raise Overloaded(f"all {self._limit} tool threads hang in calls that were given up; raise limits.threads")
        await self._slots.acquire()
        bell = self._bell = self._bell or Bell()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._busy += 1
        if self._busy > self._threads:
            self._threads += 1
            threading.Thread(target=self._work, name=f"talaria-tool-{self._threads}", daemon=True).start()
        self._jobs.put((fn, future, bell))
        try:
            return await future
        except asyncio.CancelledError:
            self._stuck += future.cancelled()
            raise

    def close(self) -> None:
        """Let idle threads end; the others end with their function or with the process."""
        for _ in range(self._threads):
            self._jobs.put(None)
        self._is_closed = True
        self._close_bell()

    def _close_bell(self) -> None:
        if self._is_closed and not self._busy and self._bell is not None:
            self._bell.close()
            self._bell = None

    def _settle(self, outcome: Outcome) -> None:
        future, value, error = outcome
        self._busy -= 1
        self._slots.release()
        self._close_bell()
        if future.cancelled():  # the call was given up
            self._stuck -= 1
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            fn, future, bell = job
            value, error = None, None
            try:
                value = fn()
            except BaseException as raised:  # noqa: BLE001 - a tool's body on a thread: its caller is told
                error = raised if _may_cross(raised) else RuntimeError(f"the tool raised {type(raised).__name__}")
            bell.ring(self._settle, (future, value, error))
            del job, fn, future, value, error


def _may_cross(error: BaseException) -> bool:
    """Whether a future can carry the exception to the loop without harm."""
    return isinstance(error, Exception) and not isinstance(error, StopIteration)
