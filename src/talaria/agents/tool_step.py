"""One round of tool calls: all that may run do, questions are asked, decisions are taken as they come."""

import asyncio
from typing import cast

from structlog.contextvars import bind_contextvars, reset_contextvars

from talaria.agents.mail import absorb
from talaria.agents.open_run import OpenRun
from talaria.journal.entries import Outcome, StopRaised, ToolFinished
from talaria.journal.questions import CLIENT
from talaria.journal.state import CallState
from talaria.tools.chain import CallContext, Proceed, Suspended, ToolOutcome

CANCELLED = "Cancelled before it ran."
CUT_OFF = "Cancelled while it ran; it is not known whether it took effect."


class _Round:
    """The calls under way in this round: one task a call, and one more while there is mail to read.

    A call that is alone needs no task of its own.
    """

    def __init__(self, session: OpenRun, chain: Proceed, calls: tuple[CallState, ...]) -> None:
        self.session = session
        self.chain = chain
        self.calls = calls
        self.group = asyncio.TaskGroup()
        self.running: set[str] = set()
        self.reading: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Start what can start; decisions that come meanwhile start the rest."""
        ready = self._take_ready()
        if len(ready) == 1:
            await self._one(ready[0])
        else:
            self._start(ready)

    def _take_ready(self) -> list[CallState]:
        """Take every open call that is not running and does not wait for a decision; side effects stand in line."""
        ready = [call for call in self.calls if self._is_ready(call)]
        for call in self.calls:
            tool = self.session.tools.get(call.call.name)
            if call.is_open and call.call.id not in self.running and not (tool and tool.may_run_in_parallel):
                self.session.lane[call.call.id] = ended = asyncio.get_running_loop().create_future()
                if call.status == "asked":
                    ended.set_result(False)
        for call in ready:
            self.running.add(call.call.id)
            call.held = False
        return ready

    def _start(self, calls: list[CallState]) -> None:
        for call in calls:
            self.group.create_task(self._one(call), name=f"call {call.call.name}")

    def read_mail(self) -> None:
        """There is mail: read it beside the calls that run."""
        if not self.running or (self.reading is not None and not self.reading.done()):
            return
        reading = self._read()
        try:
            self.reading = self.group.create_task(reading, name="mail")
        except RuntimeError:  # the round is being cancelled: the loop reads it
            reading.close()

    async def _read(self) -> None:
        while self.session.has_mail:
            await absorb(self.session)
        if any((call.status == "resolved" or call.waits_on) and self._is_ready(call) for call in self.calls):
            self._start(self._take_ready())

    def _is_ready(self, call: CallState) -> bool:
        return call.is_open and call.status != "asked" and call.call.id not in self.running

    async def _one(self, call: CallState) -> None:
        logged = bind_contextvars(call=call.call.id, tool=call.call.name)
        try:
            await self._bring_forward(call)
        finally:
            reset_contextvars(**logged)

    async def _bring_forward(self, call: CallState) -> None:
        session, context = self.session, CallContext(self.session, call)
        finished = False
        try:
            outcome = await self.chain(context)
            record_outcome(session, call, outcome, _ran_ms(context), untrusted=context.untrusted)
            finished = True
            session.writer.push_soon()
        except Suspended:
            await session.flush()
        except asyncio.CancelledError:
            if session.is_interrupted:
                record_outcome(session, call, _cut_off(session, call), _ran_ms(context))
            raise
        finally:
            self.running.discard(call.call.id)
            ended = session.lane.get(call.call.id)
            if ended is not None and not ended.done():
                ended.set_result(finished)


def _ran_ms(context: CallContext) -> int:
    """How long the tool itself took: waiting for others, or for a person, is not its time."""
    return 0 if context.began is None else int((asyncio.get_running_loop().time() - context.began) * 1000)


async def run_tools(session: OpenRun, chain: Proceed, calls: tuple[CallState, ...]) -> None:
    """Bring the calls forward until every one has its answer or waits for a person."""
    session.lane.clear()
    round_ = _Round(session, chain, calls)
    try:
        async with round_.group:
            session.on_mail = round_.read_mail
            await round_.run()
    except BaseExceptionGroup as failures:
        raise _first(failures) from failures
    finally:
        session.on_mail = None


def _first(error: BaseException) -> BaseException:
    """The first of the errors in a group of groups."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    group = cast("BaseExceptionGroup[BaseException]", error)
    return _first(group.exceptions[0])


def record_outcome(
    session: OpenRun, call: CallState, done: ToolOutcome, duration_ms: int, *, untrusted: bool = False
) -> None:
    """Record how a call ended, and that it ended the run if it did."""
    if not call.is_open:
        return
    blob = session.writer.keep(done.whole.encode()) if done.whole is not None else ""
    entry = ToolFinished(
        run=session.run.id,
        at=session.now(),
        call_id=call.call.id,
        name=call.call.name,
        text=done.text,
        outcome=done.outcome,
        duration_ms=duration_ms,
        truncated=done.whole is not None,
        blob=blob,
        untrusted=untrusted,
        images=done.images,
    )
    if done.stop is None:
        session.record(entry)
    else:
        session.record(entry, StopRaised(run=session.run.id, at=session.now(), call_id=call.call.id, message=done.stop))
    session.log.info(
        "tool_finished",
        round=session.run.rounds,
        call=call.call.id,
        tool=entry.name,
        outcome=entry.outcome,
        ms=duration_ms,
    )


def _cut_off(session: OpenRun, call: CallState) -> ToolOutcome:
    """What is true of a call that the end of its run cuts off."""
    tool = session.tools.get(call.call.name)
    unknown = _may_have_run(call) and (tool is None or tool.side_effects)
    outcome: Outcome = "unknown" if unknown else "cancelled"
    return ToolOutcome(CUT_OFF if unknown else CANCELLED, outcome)


def close_calls(session: OpenRun, why: str) -> None:
    """Give every open call its answer, so that the history is valid when the run ends."""
    for call in session.run.open_calls():
        done = _cut_off(session, call)
        record_outcome(session, call, ToolOutcome(done.text if _may_have_run(call) else why, done.outcome), 0)


def _may_have_run(call: CallState) -> bool:
    """Whether it was begun, here or by the caller."""
    return call.was_started or (call.asked is not None and call.asked.reason == CLIENT)
