"""A thread that does jobs for the event loop, all that have piled up at once, and tells their results at once.

The interpreter lock is not fair: a loop that is never idle gives it away for microseconds only (in each `select`) and
has it back before another thread has woken up, for seconds on end. So when nothing has come back for a while, the loop
rests for a moment that is long enough for a thread to wake up.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from talaria.core.errors import StoreClosed
from talaria.threads.bell import Bell

PATIENCE = 0.005
REST = 0.0002
"""Seconds."""

C = TypeVar("C")
T = TypeVar("T")


class Job(Generic[C, T]):
    """One piece of work, its result, and who waits for it.

    `then` is called on the loop with the result, also when the caller has gone.
    """

    __slots__ = ("error", "future", "result", "then", "work")

    def __init__(
        self, work: Callable[[C], T], future: "asyncio.Future[T]", then: Callable[[T], None] | None = None
    ) -> None:
        self.work = work
        self.future = future
        self.then = then
        self.result: Any = None
        self.error: Exception | None = None


class Worker(Generic[C]):
    """A thread and its queue. `perform` settles each of the jobs it gets: sets `result` or `error`."""

    def __init__(self, name: str, perform: "Callable[[list[Job[C, Any]]], None]", finish: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._perform = perform
        self._finish = finish
        self._queue: SimpleQueue[Job[C, Any] | None] = SimpleQueue()
        self._is_closed = False
        self._given = self._done = 0
        self._watched: asyncio.TimerHandle | None = None
        self._ended = self._loop.create_future()
        self._bell = Bell()
        threading.Thread(target=self._main, name=name, daemon=True).start()

    def submit(self, work: Callable[[C], T], then: Callable[[T], None] | None = None) -> "asyncio.Future[T]":
        """Queue a job; jobs are done in the order of the calls.

        Raises:
            StoreClosed: no more jobs are taken.
        """
        self.check()
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put(Job(work, future, then))
        self._given += 1
        if self._watched is None:
            self._watched = self._loop.call_later(PATIENCE, self._watch, self._done)
        return future

    def _watch(self, done: int) -> None:
        self._watched = None
        if self._given == self._done:
            return
        if done == self._done:
            time.sleep(REST)  # noqa: TID251 - SimpleQueue.get(timeout) may never return on Python 3.11
        self._watched = self._loop.call_later(PATIENCE, self._watch, self._done)

    def check(self) -> None:
        """Raise StoreClosed unless jobs are taken."""
        if self._is_closed:
            raise StoreClosed("the store is closed; open it again")

    async def close(self) -> None:
        """Do what is queued, then end the thread."""
        if not self._is_closed:
            self._is_closed = True
            self._queue.put(None)
        await asyncio.shield(self._ended)

    def _main(self) -> None:
        is_open = True
        while is_open:
            jobs, is_open = self._take()
            if jobs:
                try:
                    self._perform(jobs)
                except BaseException as error:  # noqa: BLE001 - the thread's boundary: whoever waits must be told
                    for job in jobs:
                        job.error = job.error or StoreClosed("the store failed", operator=repr(error))
                self._bell.ring(self._deliver, jobs)
            del jobs  # or the last ones live on while this thread waits
        try:
            self._finish()
        finally:
            self._bell.ring(self._end, None)

    def _take(self) -> "tuple[list[Job[C, Any]], bool]":
        jobs: list[Job[C, Any]] = []
        job = self._queue.get()
        while job is not None:
            jobs.append(job)
            if not self._queue.qsize():
                return jobs, True
            job = self._queue.get()
        return jobs, False

    def _deliver(self, jobs: "list[Job[C, Any]]") -> None:
        self._done += len(jobs)
        for job in jobs:
            if job.error is None and job.then is not None:
                job.then(job.result)
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)

    def _end(self, _: None) -> None:
        self._bell.close()
        if self._watched is not None:
            self._watched.cancel()
        if not self._ended.done():
            self._ended.set_result(None)
