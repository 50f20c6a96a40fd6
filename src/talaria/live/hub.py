"""The live buffers of this process, by run."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from talaria.core.events import START, Position
from talaria.live.buffer import LiveBuffer


class Hub:
    """Gives owners and followers of a run the same buffer, and drops it when neither is left.

    A buffer without an owner lingers until the next two calls of `sweep`, so that a follower that has just read the
    journal never misses what came in between.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, LiveBuffer] = {}
        self._owned: set[str] = set()
        self._idle: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._buffers)

    def get(self, run_id: str) -> LiveBuffer | None:
        """Return the run's buffer, if it has one."""
        return self._buffers.get(run_id)

    def own(self, run_id: str, since: int, anchor: Position = START) -> LiveBuffer:
        """Return the run's buffer to its owner, who publishes everything after entry `since` there.

        `anchor` is where the last event stands that entries up to `since` made.
        """
        self._owned.add(run_id)
        if (old := self._buffers.get(run_id)) is not None and old.ended:
            del self._buffers[run_id]  # an owner had to give the run up; it goes on
        buffer = self._open(run_id, since)
        buffer.resume(anchor)
        return buffer

    def disown(self, run_id: str) -> None:
        """The owner is done with the run, for now or for good."""
        self._owned.discard(run_id)
        if (buffer := self._buffers.get(run_id)) is not None:
            buffer.rest()

    def close(self) -> None:
        """This process ends: whoever follows a run goes on elsewhere."""
        for buffer in self._buffers.values():
            buffer.close()

    @contextmanager
    def following(self, run_id: str) -> Generator[Callable[[int], LiveBuffer]]:
        """Keep the run's buffer while somebody follows it; gives a function that opens it, complete after a seq."""
        followed: list[LiveBuffer] = []

        def open_buffer(since: int) -> LiveBuffer:
            buffer = self._open(run_id, since)  # no owner: nothing is said here until one comes
            if buffer not in followed:
                followed.append(buffer)
                buffer.followers += 1
            return buffer

        if (existing := self.get(run_id)) is not None:
            followed.append(existing)
            existing.followers += 1
        try:
            yield open_buffer
        finally:
            for buffer in followed:
                buffer.followers -= 1

    def sweep(self) -> None:
        """Drop buffers that had neither owner nor follower at this call and the one before."""
        idle = {
            run_id: self._idle.get(run_id, 0) + 1
            for run_id, buffer in self._buffers.items()
            if run_id not in self._owned and not buffer.followers
        }
        for run_id in [run_id for run_id, times in idle.items() if times > 1]:
            del self._buffers[run_id], idle[run_id]
        self._idle = idle

    def _open(self, run_id: str, since: int) -> LiveBuffer:
        buffer = self._buffers.get(run_id)
        if buffer is None:
            buffer = self._buffers[run_id] = LiveBuffer(run_id, since)
        return buffer
