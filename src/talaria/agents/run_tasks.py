"""The subagents' tasks of one run: begun, worked on beside it, looked after, and told of in words."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from talaria.agents.decide import Park, Stop, decide
from talaria.agents.granted import Granted
from talaria.agents.mail import absorb
from talaria.agents.open_run import OpenRun
from talaria.agents.task_run import TaskRun
from talaria.core.errors import InvalidRequest, StopRun
from talaria.core.ids import new_id
from talaria.core.text import valid_text
from talaria.journal.entries import TaskStarted
from talaria.journal.state import CallState, SessionState
from talaria.tools.chain import Suspended
from talaria.tools.errors import TaskFailed
from talaria.tools.nearest import hint, listed
from talaria.tools.subagents import NO_LIMIT

_log = structlog.get_logger("talaria.task")

ENDED = {
    "cancelled": "it was cancelled",
    "timeout": "its time was up",
    "maxRounds": "it had asked its model as often as it may",
    "toolCallLimitExceeded": "the limit of tool calls was reached",
    "quotaExceeded": "a quota is used up",
    "length": "its answer was cut off at the token limit",
    "content_filter": "its provider's filter ended the answer",
}

Drive = Callable[[OpenRun], Awaitable[object]]


def open_tasks(session: OpenRun, drive: Drive) -> None:
    """Give a run its tasks, where it has subagents, or tasks of before a restart; a task has those of its run."""
    if session.tasks is None and (session.subagents or session.run.tasks):
        session.tasks = RunTasks(session, drive)
        session.tasks.poke()


class RunTasks:
    """`drive` is the loop. A task in the foreground is worked on by the call that gave it, others by tasks here."""

    def __init__(self, session: OpenRun, drive: Drive) -> None:
        self._session = session
        self._drive = drive
        self._open: dict[str, TaskRun] = {}  # those that are being worked on
        self._background: dict[str, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None

    def of(self, session: OpenRun, call: CallState) -> "CallTasks":
        """See open_run.Tasks."""
        return CallTasks(self, session, call)

    @property
    def states(self) -> dict[str, SessionState]:
        """The tasks of the run, by id."""
        return self._session.run.tasks

    @property
    def are_running(self) -> bool:
        """See open_run.Tasks."""
        return bool(self._background)

    def read_mail(self) -> None:
        """See open_run.Tasks."""
        if self._background and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(absorb(self._session), name="mail")

    def poke(self) -> None:
        """See open_run.Tasks."""
        for task in self._open.values():
            if task.on_mail is not None:
                task.on_mail()
        for name, state in self.states.items():
            if self._is_ready(name, state):
                self._background[name] = asyncio.create_task(self._work(name, state), name=f"task {name}")

    async def rest(self) -> None:
        """See open_run.Tasks."""
        news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        session = self._session
        session.on_mail = lambda: None if news.done() else news.set_result(None)
        try:
            if not session.has_mail:
                await asyncio.wait([news, *self._background.values()], return_when=asyncio.FIRST_COMPLETED)
        finally:
            session.on_mail = None

    async def stop(self) -> None:
        """See open_run.Tasks."""
        under_way = [*self._background.values(), *([self._reading] if self._reading is not None else [])]
        for each in under_way:
            each.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._background.clear()

    def unfinished(self) -> list[OpenRun]:
        """See open_run.Tasks."""
        states = [state for state in self.states.values() if state.active is not None]
        return [TaskRun(self._session, state, Granted()) for state in reversed(states)]

    async def drive(self, name: str, state: SessionState) -> None:
        """Work on a task until it is over or waits for a person.

        Raises:
            InvalidRequest: there is no such subagent any more.
        """
        self._open[name] = task = TaskRun(self._session, state, self._granted(state))
        try:
            await self._drive(task)
        finally:
            self._open.pop(name, None)

    async def wait(self, name: str, seconds: float) -> None:
        """Return when a task in the background is not worked on any more, or after so long."""
        if (task := self._background.get(name)) is not None:
            await asyncio.wait([task], timeout=seconds)

    def _is_ready(self, name: str, state: SessionState) -> bool:
        started = state.run.task if state.run is not None else None
        if started is None or not started.background or state.active is None or name in self._background:
            return False
        return not isinstance(decide(state, self._session.now(), self.states), Park)

    async def _work(self, name: str, state: SessionState) -> None:
        try:
            await self.drive(name, state)
        except InvalidRequest as error:
            await self._fail(state, error.code, error.message)
        except Exception as error:  # noqa: BLE001 - a task in the background: the run is told
            fault = new_id("err")
            _log.error("task_failed", task=name, fault=fault, exception=self._session.redactor.traceback(error))
            await self._fail(state, "internal", f"something went wrong inside the server; its log explains {fault}")
        finally:
            self._background.pop(name, None)

    async def _fail(self, state: SessionState, code: str, message: str) -> None:
        task = TaskRun(self._session, state, Granted())
        task.record(task.finished(Stop(error=code, message=message)))
        await task.flush()

    def _granted(self, state: SessionState) -> Granted:
        assert state.run is not None
        assert state.run.task is not None
        parent, (name, _, _) = state.run.task.parent, state.task.partition(":")
        above = self._session.subagents if not parent else self._granted(self.states[parent]).subagents
        if name not in above:
            raise InvalidRequest(f"the subagent '{name}' is not there any more")
        return above[name].grant()


class CallTasks:
    """See tools.context.Subagents."""

    def __init__(self, tasks: RunTasks, session: OpenRun, call: CallState) -> None:
        self._tasks = tasks
        self._session = session
        self._call = call

    async def start(self, name: str, prompt: str, description: str, *, background: bool) -> str:
        """Give a task, or go on with the one that this call gave before it had to wait, or before a restart."""
        task = f"{name}:{self._call.call.id}"
        state = self._tasks.states.get(task)
        if state is None:
            state = self._begin(task, name, valid_text(prompt), valid_text(description), background=background)
        if background:
            self._tasks.poke()
            return f"The task has begun in the background; its id is {task}. TaskOutput tells what it comes to."
        if state.active is not None:
            await self._tasks.drive(task, state)
        return self._told(task, state)

    async def output(self, task: str, *, block: bool, seconds: float) -> str:
        """Tell what a task has come to."""
        state = self._tasks.states.get(task)
        if state is None:
            there = f"there are {listed(self._tasks.states)}" if self._tasks.states else "there are none in this turn"
            raise InvalidRequest(f"no task '{task[:80]}'; {there}{hint(task, self._tasks.states)}")
        if block and state.active is not None:
            await self._tasks.wait(task, seconds)
        if state.active is not None and not (block and isinstance(self._next(state), Park)):
            rounds = state.run.rounds if state.run is not None else 0
            return f"The task is not over yet; it is in round {rounds + 1}. Ask again later, or wait with block: true."
        return self._told(task, state)

    def _begin(self, task: str, name: str, prompt: str, description: str, *, background: bool) -> SessionState:
        session = self._session
        subagent = session.subagents.get(name)
        if subagent is None:
            raise InvalidRequest(f"no subagent named '{name[:80]}'; there are {listed(session.subagents)}")
        turn, above = session.run.turn, session.run.task
        rounds = subagent.max_rounds or turn.limits.max_rounds
        session.root.record(
            TaskStarted(
                run=session.run.id,
                task=task,
                at=session.now(),
                call_id=self._call.call.id,
                prompt=prompt,
                model=subagent.model or turn.model,
                system=subagent.system,
                tools=subagent.specs(),
                limits=msgspec.structs.replace(turn.limits, max_rounds=rounds, run_timeout=NO_LIMIT),
                description=description,
                parent=session.task,
                depth=1 if above is None else above.depth + 1,
                background=background,
            )
        )
        session.writer.push_soon()
        return self._tasks.states[task]

    def _next(self, state: SessionState) -> object:
        return decide(state, self._session.now(), self._tasks.states)

    def _told(self, task: str, state: SessionState) -> str:
        """What the task came to.

        Raises:
            Suspended: it waits for a person.
        """
        run = state.run
        assert run is not None
        if run.finished is None:
            self._call.waits_on = task
            raise Suspended
        said = run.last.message.text if run.last is not None else ""
        match run.finished:
            case done if done.error == "tool_failed":
                raise StopRun(run.stopped.message if run.stopped is not None else "a tool ended the subagent's task")
            case done if done.error:
                raise TaskFailed(f"the subagent came to no end: {done.message or done.error}")
            case done if done.reason != "stop":
                return f"{said}\n\n[The subagent did not end by itself: {ENDED.get(done.reason, done.reason)}.]".strip()
            case _:
                return said
