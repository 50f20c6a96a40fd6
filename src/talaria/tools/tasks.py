"""Tasks for the coroutines of tools: one that does not end when it is cancelled is abandoned, not waited for."""

import asyncio
from collections.abc import Awaitable
from typing import Any

CLEANUP = 2.0
"""Seconds that a cancelled coroutine has to clean up."""


class TaskPool:
    """Runs coroutines of tools, each in a task of its own."""

    def __init__(self, cleanup: float = CLEANUP) -> None:
        self._cleanup = cleanup
        self._cancelled: set[asyncio.Task[Any]] = set()

    @property
    def stuck(self) -> int:
        """How many cancelled coroutines have not ended."""
        return len(self._cancelled)

    async def run(self, body: Awaitable[Any]) -> Any:
        """Return what `body` gives, or raise what it raises; what is no Exception is raised as a RuntimeError.

        When the caller is cancelled, so is the body. What it still returns or raises counts; when it takes too long
        it goes on alone.
        """
        task = asyncio.ensure_future(_contain(body))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                self._cancel(task)
                await asyncio.wait((task,), timeout=self._cleanup)
            if not task.done() or task.cancelled():
                raise
            return task.result()

    def _cancel(self, task: asyncio.Task[Any]) -> None:
        self._cancelled.add(task)
        task.add_done_callback(self._forget)
        task.cancel()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._cancelled.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else may ask, and then the loop would complain


async def _contain(body: Awaitable[Any]) -> Any:
    """What would end the loop (SystemExit, KeyboardInterrupt) or confuse it must not leave a tool's task."""
    try:
        return await body
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise RuntimeError(f"the tool raised {type(error).__name__}") from error
