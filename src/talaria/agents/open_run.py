"""The run that is being driven in this process: its writer, its live buffer, and what its tools may use."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

import structlog

from talaria.agents.decide import Stop
from talaria.agents.granted import Granted, Means
from talaria.agents.live import Live
from talaria.agents.placing import with_files
from talaria.artifacts.artifact import Artifact
from talaria.core.errors import Conflict, InvalidRequest, QuotaExceeded
from talaria.core.events import ChatEvent
from talaria.core.ids import new_id
from talaria.core.plan import Plan
from talaria.core.redaction import Redactor
from talaria.journal.entries import (
    AnyEntry,
    ApprovalRequested,
    Audited,
    Emitted,
    PlanSet,
    RunFinished,
    RunParked,
    ToolOutput,
    ToolStarted,
    VariableSet,
)
from talaria.journal.fold import QUOTA
from talaria.journal.session import SessionWriter
from talaria.journal.state import CallState, RunState, SessionState
from talaria.memory.memories import Memories
from talaria.quotas.quotas import RunQuota
from talaria.threads.context import NO_CONTEXT
from talaria.threads.watchdog import Watchdog
from talaria.tools.breaker import Breakers
from talaria.tools.chain import Suspended
from talaria.tools.context import Subagents
from talaria.tools.declaration import Tool
from talaria.tools.health import ArgumentHealth
from talaria.tools.outlet import mask_value
from talaria.tools.session import Session

_log = structlog.get_logger("talaria.run")


class Tasks(Protocol):
    """The subagents' tasks of one run; see agents.run_tasks."""

    def of(self, session: "OpenRun", call: CallState) -> Subagents:
        """What a call may do with subagents."""
        ...

    def read_mail(self) -> None:
        """There is mail, and the run itself is busy."""
        ...

    def poke(self) -> None:
        """Letters were read: whoever waits for a decision looks for it."""
        ...

    @property
    def are_running(self) -> bool:
        """Whether tasks in the background are worked on."""
        ...

    async def rest(self) -> None:
        """Wait until one of those comes to something, or there is mail."""
        ...

    async def stop(self) -> None:
        """This process works on them no more."""
        ...

    def unfinished(self) -> "list[OpenRun]":
        """The tasks that are not over, the last begun first."""
        ...


class OpenRun:
    """What the loop works on. Only the owner of the session has one; it is thrown away when the run parks or ends."""

    task = ""

    def __init__(self, means: Means, writer: SessionWriter, live: Live, granted: Granted) -> None:
        self.means = means
        self.writer = writer
        self.live = live
        self.tools: Mapping[str, Tool[..., Any]] = {tool.name: tool for tool in granted.tools}
        self.secrets: Mapping[str, str] = dict(granted.secrets or {})
        self.principal = granted.principal
        self.deps, self.policy = granted.deps, granted.policy
        self._answer = granted.answer
        self.own = granted.own
        self.sandbox = with_files(granted.sandbox, means.files, granted.principal, writer.state)
        self.subagents = granted.subagents
        self.tasks: Tasks | None = None
        self.redactor = Redactor({**self.secrets, **granted.kept})
        self.quota = _quota(means, writer.state)
        self.on_mail: Callable[[], None] | None = None
        self.next_turn_waits = False
        self.lane: dict[str, asyncio.Future[bool]] = {}
        self.log = _log.bind()  # once: the lazy logger would do so for every line
        self.session = Session(writer.state, granted.principal, self.set_variable)
        self._is_left, self._not_before = False, 0
        self._watchdog = Watchdog()
        self._alarm: asyncio.TimerHandle | None = None
        self.arrived, self.absorbed = 1, 0  # letters, and how many of them have been read
        self.reading = asyncio.Lock()

    @property
    def root(self) -> "OpenRun":
        """The run itself, of which this may be a subagent's task."""
        return self

    @property
    def state(self) -> SessionState:
        """The session's state, with everything recorded so far."""
        return self.writer.state

    @property
    def argument_health(self) -> ArgumentHealth:
        """How calls fare at their arguments in this process."""
        return self.means.argument_health

    @property
    def breakers(self) -> Breakers:
        """See CallRun."""
        return self.means.breakers

    @property
    def memories(self) -> Memories:
        """See CallRun."""
        return self.means.memories

    @property
    def run(self) -> RunState:
        """The run's part of the state."""
        run = self.state.run
        assert run is not None
        return run

    @property
    def answer(self) -> Tool[..., Any]:
        """The tool that stands for the final answer, where the turn has a schema for it."""
        assert self._answer is not None
        return self._answer

    def now(self) -> int:
        """The time in ms; never before the end of the run's time once an action was ended by that."""
        now = self.means.clock.now()
        return max(self._not_before, now)

    def tell_downgraded(self, sentence: str, told: list[str]) -> None:
        """Something is done without: the client is told the first time in a run, and `told` gets what it was told."""
        if sentence not in told and sentence not in self.run.downgraded:
            told.append(sentence)
            self.live.tell(ChatEvent("notice", sentence, reason="downgraded"))

    def over_quota(self, error: QuotaExceeded) -> None:
        """A model call has no room: that ends the run."""
        _log.warning("quota_refused", quota=error.quota, error=error.message)
        self.audit(QUOTA, "refused", subject=error.quota, detail=error.message)

    def record(self, *entries: AnyEntry, consumed: Sequence[str] = ()) -> None:
        """Record entries; `flush` makes them durable."""
        self.writer.record(*entries, consumed=consumed)

    async def flush(self) -> None:
        """Wait until all that was recorded is durable."""
        await self.writer.flush()

    async def set_variable(self, name: str, value: Any) -> None:
        """Record a variable of the session; returns once that is durable.

        Raises:
            Conflict: this process does not drive the run any more.
            InvalidRequest: it holds a secret of the request, which is never recorded.
        """
        if self._is_left or self.run.finished is not None:
            raise Conflict(f"the run has ended or parked; '{name}' is not set")
        if mask_value(self.redactor, [name, value]) != [name, value]:
            raise InvalidRequest(f"session.set: '{name}' would hold a secret of the request; keep none in variables")
        self.record(VariableSet(run=self.run.id, at=self.now(), name=name, value=value))
        await self.flush()

    def leave(self) -> None:
        """This process drives the run no more; what still runs of its tools records nothing."""
        self._is_left = True
        if self._alarm is not None:
            self._alarm.cancel()

    # Being interrupted

    async def attend(self, action: Any) -> None:
        """Perform an action until it ends, the run's time is up, or somebody interrupts it."""
        if self._alarm is None and not self.task:
            self._set_alarm()
        try:
            with self._watchdog:
                await action
        except TimeoutError:
            if not self._watchdog.expired:
                raise
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # this process ends, and a tool kept that to itself

    def _set_alarm(self) -> None:
        """One for all actions: the run goes on running until this process drives it no more."""
        left = self.run.turn.limits.run_timeout - self.run.ran(self.now())
        self._alarm = asyncio.get_running_loop().call_later(max(0.0, left), self._end_time, context=NO_CONTEXT)

    def _end_time(self) -> None:
        self._not_before = self.run.ends_at  # the clock that dates entries may be a little, or far, behind
        self.interrupt()

    def interrupt(self) -> None:
        """End the action under way, if any: what it has so far is recorded, and the loop decides anew."""
        self._watchdog.bite()

    @property
    def is_interrupted(self) -> bool:
        """Whether the action under way is ending because of a cancel or the run's time limit."""
        return self._watchdog.expired

    # Letters

    @property
    def has_mail(self) -> bool:
        """Whether letters may have come that nobody has read."""
        return self.absorbed < self.arrived

    def notify(self) -> None:
        """There is mail."""
        self.arrived += 1
        if self.on_mail is not None:
            self.on_mail()
        elif self.tasks is not None:
            self.tasks.read_mail()

    def poke_tasks(self) -> None:
        """Letters were read."""
        if self.tasks is not None:
            self.tasks.poke()

    async def stop_tasks(self) -> None:
        """This process works on the run's tasks no more."""
        if self.tasks is not None and not self.task:
            await self.tasks.stop()

    def unfinished_tasks(self) -> "list[OpenRun]":
        """The run's tasks that are not over, the last begun first."""
        return [] if self.tasks is None or self.task else self.tasks.unfinished()

    def has_no_mail(self) -> None:
        """All letters there are have been read: by the owner, when it took the turn."""
        self.absorbed = self.arrived

    # What the loop says in the end

    async def park(self, until: int) -> None:
        """Record that there is nothing to do but wait."""
        deadlines = [asked.expires_at for each in self.state.threads for asked in each.approvals.values()]
        self.record(RunParked(run=self.run.id, at=self.now(), until=min([until, *deadlines])))
        await self.flush()

    def finished(self, stop: Stop) -> AnyEntry:
        """The entry for how it ended."""
        run = self.run
        return RunFinished(
            run=run.id,
            at=self.now(),
            reason="error" if stop.error else stop.reason,
            usage=run.usage,
            error=stop.error,
            message=self.redactor.mask(stop.message),
            answer=run.answer.text if run.answer is not None and not stop.error else "",
        )

    # What the chain's stages use (tools.chain.CallRun)

    def subagents_of(self, call: CallState) -> Subagents | None:
        """See CallRun."""
        return None if self.tasks is None else self.tasks.of(self, call)

    async def begin(self, call: CallState, repairs: tuple[str, ...] = (), *, durably: bool = True) -> None:
        """See CallRun."""
        self.record(
            ToolStarted(
                run=self.run.id,
                at=self.now(),
                call_id=call.call.id,
                name=call.call.name,
                round=self.run.rounds,
                repairs=repairs,
            )
        )
        if durably:
            await self.flush()
        else:
            self.writer.push_soon()

    def audit(self, action: str, outcome: str, **about: str) -> None:
        """See CallRun."""
        self.record(Audited(run=self.run.id, at=self.now(), action=action, outcome=outcome, **about))

    def emit(self, call: CallState, name: str, data: Any) -> None:
        """Say something to the client, now; nothing comes of it once the call has its answer."""
        if call.is_open:
            self.record(Emitted(run=self.run.id, at=self.now(), call_id=call.call.id, name=name, data=data))
            self.writer.push()

    def output(self, call: CallState, text: str) -> None:
        """Say a piece of what the call puts out, now; nothing comes of it once the call has its answer."""
        if call.is_open:
            self.record(ToolOutput(run=self.run.id, at=self.now(), call_id=call.call.id, text=text))
            self.writer.push()

    async def save(self, call: CallState, name: str, data: AsyncIterator[bytes] | bytes) -> Artifact:
        """See CallRun."""
        saved = await self.means.files.save(self.principal, self.redactor.mask(name), data, session=self.state.path)
        if self._is_left or not call.is_open:
            raise Conflict(f"the call is over; nobody gets '{saved.name}'")
        self.record(saved.handed_over(self.run.id, self.now(), call.call.id))
        self.writer.push()
        return saved

    def keep_plan(self, call: CallState, plan: Plan) -> bool:
        """See CallRun. A call that a crash cut short, and that runs again, changed it, too."""
        if (kept := self.state.plan) is None or kept.plan != plan:
            kept = PlanSet(run=self.run.id, at=self.now(), call_id=call.call.id, plan=plan)
            self.record(kept)
        return (kept.run, kept.call_id) == (self.run.id, call.call.id)

    def ask(self, call: CallState, reason: str, arguments: str) -> None:
        """Record the question whether this call may run, with these arguments."""
        limits = self.run.turn.limits
        entry = ApprovalRequested(
            run=self.run.id,
            at=self.now(),
            request_id=new_id("ask"),
            call_id=call.call.id,
            name=call.call.name,
            arguments=arguments,
            expires_at=self.now() + int(limits.approval_timeout * 1000),
            reason=reason,
            round=self.run.rounds,
        )
        self.record(entry)
        self.log.info("approval_requested", request=entry.request_id, tool=call.call.name, reason=reason)

    async def in_turn(self, call: CallState) -> None:
        """Return when the calls with side effects before this one have ended (see tool_step.Lane)."""
        for call_id, ended in list(self.lane.items()):
            if call_id == call.call.id:
                return
            if not await asyncio.shield(ended):
                call.held = True
                raise Suspended

    async def whole(self, call_id: str) -> str | None:
        """Return the whole of a result in this session that was shortened, or None if there is none."""
        ref = self.state.wholes.get(call_id)
        if ref is None:
            return None
        await self.flush()
        return (await self.means.store.blobs.get(self.state.path, ref)).decode()

    async def pause(self, seconds: float) -> None:
        """Wait, by the clock."""
        await self.means.clock.sleep(seconds)

    async def on_thread(self, fn: Callable[[], Any]) -> Any:
        """Run a blocking function on a daemon thread, with this task's log context."""
        return await self.means.threads.run(partial(copy_context().run, fn))

    async def in_task(self, body: Awaitable[Any]) -> Any:
        """Run a coroutine in a task of its own, with this task's log context."""
        return await self.means.tasks.run(body)


def _quota(means: Means, state: SessionState) -> RunQuota | None:
    if means.quotas is None or state.run is None:
        return None
    return means.quotas.of(state.key.tenant, state.run.turn.agent, state.key.user)
