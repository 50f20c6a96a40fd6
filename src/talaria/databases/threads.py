"""Threads for drivers that block: what is given up is stopped where it runs, and waited for."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """At most `limit` threads, made when they are first needed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], T], stop: Callable[[], None]) -> T:
        """Return what `work` returns; when the caller is cancelled, `stop` makes it end at once."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._limit, "talaria-database")
        job = asyncio.wrap_future(self._threads.submit(work))
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            if not job.done():
                await asyncio.to_thread(stop)
                job.cancel()
            raise

    def close(self) -> None:
        """Let the threads end."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None
