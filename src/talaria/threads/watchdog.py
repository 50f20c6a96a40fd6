"""A time limit on what the current task does, cheap enough to be set for every read."""

import asyncio

from talaria.threads.context import NO_CONTEXT


class Watchdog:
    """Ends a `with` block of the current task with TimeoutError. Armed only in the block, never in its caller.

    One timer serves all blocks: re-arming moves a number, and the timer looks at it when it fires. Used as
    `arm(seconds)`, then `with watchdog: await …`; `cancel()` at the end. Without `arm` only `bite` ends the block.
    """

    __slots__ = ("_armed", "_cancelling", "_deadline", "_handle", "_loop", "_task", "expired")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None
        self._deadline: float | None = None
        self._armed = False
        self._cancelling = 0
        self.expired = False  # whether the block under way, or the last one, was ended from here

    def arm(self, seconds: float) -> None:
        """Set the limit of the blocks to come."""
        self._deadline = self._loop.time() + seconds

    def bite(self) -> None:
        """End the block under way, if there is one, in a moment."""
        if self._armed and not self.expired:
            self._loop.call_soon(self._end, self._task, context=NO_CONTEXT)

    def cancel(self) -> None:
        """Let go of the timer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def __enter__(self) -> None:
        self._task = task = asyncio.current_task()
        self._cancelling = task.cancelling() if task is not None else 0
        self._armed, self.expired = True, False
        deadline = self._deadline
        if deadline is not None and (self._handle is None or self._handle.when() > deadline):
            self.cancel()
            self._handle = self._loop.call_at(deadline, self._fire, context=NO_CONTEXT)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._armed = False
        task, self._task = self._task, None
        if not self.expired or task is None:
            return
        if task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _fire(self) -> None:
        self._handle = None
        if self._deadline is None or not self._armed:
            return
        if self._loop.time() < self._deadline:
            self._handle = self._loop.call_at(self._deadline, self._fire, context=NO_CONTEXT)
            return
        self._end(self._task)

    def _end(self, task: "asyncio.Task[object] | None") -> None:
        if task is None or task is not self._task or self.expired:  # another block began meanwhile
            return
        self.expired = True
        task.cancel()
