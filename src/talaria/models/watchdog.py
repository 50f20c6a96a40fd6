"""A time limit on waiting for bytes, cheap enough to be set for every read."""

import asyncio

from talaria.threads.context import NO_CONTEXT


class Watchdog:
    """Ends a wait of the current task with TimeoutError. Armed only while the task waits here, never in its caller.

    One timer serves all reads of a stream: re-arming moves a number, and the timer looks at it when it fires.
    Used as `arm(seconds)`, then `with watchdog: await …`; `cancel()` at the end.
    """

    __slots__ = ("_armed", "_cancelling", "_deadline", "_expired", "_handle", "_loop", "_task")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None
        self._deadline = 0.0
        self._armed = False
        self._expired = False
        self._cancelling = 0

    def arm(self, seconds: float) -> None:
        """Set the limit of the waits to come."""
        self._deadline = self._loop.time() + seconds

    def cancel(self) -> None:
        """Let go of the timer."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def __enter__(self) -> None:
        self._task = task = asyncio.current_task()
        self._cancelling = task.cancelling() if task is not None else 0
        self._armed = True
        if self._handle is None or self._handle.when() > self._deadline:
            self.cancel()
            self._handle = self._loop.call_at(self._deadline, self._fire, context=NO_CONTEXT)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._armed = False
        task, self._task = self._task, None
        if not self._expired or task is None:
            return
        self._expired = False
        if task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _fire(self) -> None:
        self._handle = None
        if not self._armed or self._task is None:
            return
        if self._loop.time() < self._deadline:
            self._handle = self._loop.call_at(self._deadline, self._fire, context=NO_CONTEXT)
            return
        self._expired = True
        self._task.cancel()
