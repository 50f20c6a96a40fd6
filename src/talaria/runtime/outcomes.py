"""Who waits in this process for a run to end."""

import asyncio

from talaria.core.errors import InternalError, TalariaError
from talaria.journal.entries import RunFinished
from talaria.journal.state import SessionState
from talaria.runtime.results import RunResult, result_of


class Outcomes:
    """Futures of runs, resolved when the end of the run is durable."""

    def __init__(self) -> None:
        self._futures: dict[str, asyncio.Future[RunResult]] = {}

    def __len__(self) -> int:
        return len(self._futures)

    def expect(self, run_id: str) -> asyncio.Future[RunResult]:
        """Return a future of the run's result; ask before the run can have ended."""
        return self._futures.setdefault(run_id, asyncio.get_running_loop().create_future())

    def settle(self, state: SessionState, entry: RunFinished) -> None:
        """The run ended: tell who waits."""
        future = self._futures.pop(entry.run, None)
        if future is None or future.done():
            return
        try:
            future.set_result(result_of(state, entry))
        except TalariaError as error:
            future.set_exception(error)

    def drop(self, run_id: str) -> None:
        """Nobody waits after all."""
        self._futures.pop(run_id, None)

    def fail(self, run_id: str, error: TalariaError) -> None:
        """The run will not end in this process."""
        future = self._futures.pop(run_id, None)
        if future is not None and not future.done():
            future.set_exception(error)

    def close(self) -> None:
        """This process ends: runs that are not over resume at the next start."""
        for run_id in list(self._futures):
            self.fail(run_id, InternalError(f"the runtime was closed; run {run_id} resumes when it is opened again"))
