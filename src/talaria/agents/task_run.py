"""A subagent's task as the loop works on it: a run within the run, in its journal, under its limits."""

from typing import Any

import msgspec

from talaria.agents.decide import Stop
from talaria.agents.granted import Granted
from talaria.agents.open_run import OpenRun
from talaria.journal.entries import AnyEntry, TaskFinished
from talaria.journal.state import SessionState


class TaskRun(OpenRun):
    """Its history, tools and policy are its own; writer, time, secrets, quota, mail and cancel are those of the run."""

    def __init__(self, root: OpenRun, state: SessionState, granted: Granted) -> None:
        self._root = root
        self._state = state
        self.task = state.task
        assert state.run is not None
        super().__init__(root.means, root.writer, root.live.task(self.task, state.run.anchor), granted)
        self.tasks = root.tasks
        self.session, self.sandbox = root.session, root.sandbox
        self.secrets, self.redactor, self.quota = root.secrets, root.redactor, root.quota
        self.has_no_mail()  # the run reads it

    @property
    def root(self) -> OpenRun:
        """See OpenRun."""
        return self._root

    @property
    def state(self) -> SessionState:
        """The task's part of the state."""
        return self._state

    @property
    def is_interrupted(self) -> bool:
        """See OpenRun."""
        return super().is_interrupted or self._root.is_interrupted

    def now(self) -> int:
        """See OpenRun."""
        return self._root.now()

    def record(self, *entries: AnyEntry, consumed: Any = ()) -> None:
        """Record entries in the task's thread."""
        self._root.record(*[msgspec.structs.replace(each, task=self.task) for each in entries], consumed=consumed)

    async def park(self, until: int) -> None:
        """The run parks, not its tasks."""

    def finished(self, stop: Stop) -> AnyEntry:
        """The entry for how it ended."""
        return TaskFinished(
            run=self.run.id,
            at=self.now(),
            reason="error" if stop.error else stop.reason,
            usage=self.run.usage,
            error=stop.error,
            message=self.redactor.mask(stop.message),
        )
