"""The owner of one session, for as long as it has something to do: takes turns from the inbox and drives them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars

from talaria.agents.decide import Stop
from talaria.agents.granted import Granted, Means
from talaria.agents.loop import Ended, drive, finish
from talaria.agents.open_run import OpenRun
from talaria.agents.prompt import sent_at
from talaria.core.errors import Forbidden, InvalidRequest, JournalError, SecretsLost
from talaria.core.events import START, ChatEvent
from talaria.core.ids import SessionKey, new_id
from talaria.core.messages import Text, UserMessage, UserPart
from talaria.core.plan import is_done, told_again
from talaria.core.principal import Principal
from talaria.core.untrusted import marks, warning
from talaria.journal.entries import AnyEntry, Audited, ContextSet, RunResumed, SessionExpired, TurnStarted
from talaria.journal.letters import TurnBody, read_turn
from talaria.journal.session import SessionWriter
from talaria.journal.state import RunState, SessionState
from talaria.live.buffer import LiveBuffer
from talaria.live.hub import Hub
from talaria.memory.files import index_of
from talaria.memory.memories import Whose
from talaria.policy.policy import BYPASS, NO_BYPASS
from talaria.ports.inbox import Letter
from talaria.ports.journal import Journal
from talaria.ports.model import ToolSpec
from talaria.runtime.attachments import Handed
from talaria.runtime.expiry import Expiry
from talaria.tools.memory import MEMORY_TOOL
from talaria.tools.todo_write import TODO_WRITE

_log = structlog.get_logger("talaria.owner")


class Grants(Protocol):
    """Decides what a run may use, each time it is opened."""

    def context(self, turn: TurnBody) -> tuple[str, tuple[ToolSpec, ...]]:
        """The system prompt and the tools that the model sees in this turn."""
        ...

    async def attached(self, turn: TurnBody, state: SessionState) -> Handed:
        """What the turn's message gets of its attachments."""
        ...

    async def granted(self, turn: TurnStarted, principal: Principal, session: SessionKey) -> Granted:
        """What the run may use.

        Raises:
            InvalidRequest: its agent or tools are no longer there.
            Forbidden: its agent is for others by now.
            SecretsLost: it needs secrets that are gone.
        """
        ...


Watch = Callable[[SessionState, Sequence[tuple[int, AnyEntry]]], None]


class Owner:
    """Holds a session's lease. `epoch` is that of the lease; `watch` is told of every durable entry."""

    def __init__(self, means: Means, journal: Journal, hub: Hub, grants: Grants, watch: Watch, expiry: Expiry) -> None:
        self._expiry = expiry
        self._means = means
        self._journal = journal
        self._hub = hub
        self._grants = grants
        self._watch = watch
        self._live: LiveBuffer | None = None
        self._writer: SessionWriter | None = None
        self._started = ""  # the run that this owner made of a letter: it has not been anybody else's
        self.session: OpenRun | None = None
        self.refusal: JournalError | None = None
        """Why the state must be thrown away."""
        self.has_mail = True
        self._unread = True  # whether the last look into the inbox left letters there

    async def own(self, state: SessionState, epoch: int) -> SessionState | None:
        """Work until nothing is left but waiting. Return the state, or None if it must be thrown away."""
        writer = self._writer = SessionWriter(self._journal, state, epoch, self._publish, self._means.rows)
        try:
            while self.has_mail:
                self.has_mail, self._unread = False, True
                while state.active is not None or await self._start_next():
                    if await self._drive(writer) is Ended.PARKED:
                        break
        except JournalError as error:
            _log.error("journal_refused", journal=state.path, error=error.message)
            self._abandon()
            self.refusal = error
            return None
        finally:
            await writer.close()
            if self._live is not None:
                self._hub.disown(self._live.run_id)
        return state

    def notify(self) -> None:
        """There is mail for this session."""
        self.has_mail = True
        if self.session is not None:
            self.session.notify()

    # Turns

    async def _start_next(self) -> bool:
        """Make a run of the next turn letter; False if there is none. Letters about runs that are over are consumed."""
        if not self._unread:
            return False
        writer = self._the_writer
        letters = await self._means.store.inbox.pending(writer.state.path)
        in_line = [letter for letter in letters if letter.kind == "turn"]
        runs = {letter.run for letter in in_line}
        stale = [letter.key for letter in letters if letter.run not in runs]
        self._unread = len(letters) > len(stale) + 1
        if stale:
            writer.record(consumed=stale)
        if not in_line:
            await writer.flush()
            return False
        await self._start(in_line[0])
        self._tell_line(in_line[1:])
        await writer.flush()
        return True

    async def _start(self, letter: Letter) -> None:
        writer, body, self._started = self._the_writer, read_turn(letter), letter.run
        now = self._means.clock.now()
        self._open_live(letter.run, writer.state.seq)
        system, tools = self._context(body)
        is_over, prompt = self._expiry.ends(writer.state, letter.at), writer.state.prompt
        names = {tool.name for tool in tools}
        is_new, has_memory = is_over or not writer.state.turns, MEMORY_TOOL.name in names
        memory = "" if is_new else writer.state.memory_index
        if is_new and has_memory:
            memory = await self._memory(writer.state.key)
        if has_memory and memory:
            system = f"{system}\n\n{memory}"
        entries: list[AnyEntry] = []
        handed = await self._grants.attached(body, writer.state)
        if is_over:
            entries.append(SessionExpired(run=letter.run, at=now))
        if (prompt.system, prompt.tools, writer.state.memory_index) != (system, tools, memory):
            entries.append(ContextSet(run=letter.run, at=now, system=system, tools=tools, memory=memory))
        found = (*marks(body.query), *handed.marks)
        notes = [warning(found)] if found else []
        if not is_over and TODO_WRITE.name in names:
            notes += _planned(writer.state)
        turn = self._turn(letter, body, handed.parts, notes, now)
        entries.append(turn)
        if body.bypass and not turn.bypass:
            entries.append(Audited(run=letter.run, at=now, action="hitl.bypassed", outcome="refused", detail=NO_BYPASS))
        if found:
            said = f"message: {', '.join(found)}"
            entries.append(Audited(run=letter.run, at=now, action="untrusted", outcome="marked", detail=said))
        writer.record(*entries, consumed=[letter.key])
        for code, sentence in body.notices:
            self._open_live(letter.run, writer.state.seq).tell(ChatEvent("notice", sentence, reason=code))

    async def _memory(self, key: SessionKey) -> str:
        """What a session that begins is told of the user's memories; it stays the same for as long as that lasts."""
        return index_of(await self._means.memories.read(Whose(key.tenant, key.user, key.assistant)))

    def _context(self, body: TurnBody) -> tuple[str, tuple[ToolSpec, ...]]:
        try:
            return self._grants.context(body)
        except InvalidRequest:  # the agent or a tool has gone since; the run ends with that error, in `_drive`
            return "", ()

    def _turn(
        self, letter: Letter, body: TurnBody, attached: tuple[UserPart, ...], notes: list[str], now: int
    ) -> TurnStarted:
        sent = sent_at(datetime.fromtimestamp(letter.at / 1000, self._means.clock.zone))
        return TurnStarted(
            run=letter.run,
            at=now,
            agent=body.agent,
            model=body.model,
            message=UserMessage((Text(body.query), *attached), "\n".join([*notes, sent])),
            limits=body.limits,
            options=body.options,
            history=body.history,
            roles=body.principal.roles,
            secrets=body.secrets,
            labels=body.labels,
            tools=body.tools,
            system=body.system,
            detached=body.detached,
            output=body.output,
            bypass=body.bypass and BYPASS in body.principal.roles,
            subagents=body.subagents,
            skills=body.skills,
            external=body.external,
        )

    def _tell_line(self, rest: Sequence[Letter]) -> None:
        for place, letter in enumerate(rest, 1):
            live = self._hub.get(letter.run)
            if live is not None:
                live.tell_place(place)

    # Runs

    async def _drive(self, writer: SessionWriter) -> Ended:
        state = writer.state
        run = state.active
        assert run is not None
        live = self._open_live(run.id, state.seq)
        _log_as(state.key, run)
        if run.id != self._started or run.parked_until is not None:
            self._resume(writer, run)
        session: OpenRun | None = None
        try:
            session = OpenRun(self._means, writer, live, await self._grant(state, run))
            if not (self.has_mail or self._unread):
                session.has_no_mail()
            self.session = session
            return await drive(session)
        except (Forbidden, InvalidRequest, SecretsLost) as error:
            bare = session or OpenRun(self._means, writer, live, Granted())
            if isinstance(error, Forbidden):
                bare.audit("agent.permission", "deny", subject=run.turn.agent, rule="agent.roles")
            if isinstance(error, SecretsLost):
                bare.audit("secrets", "refused", detail=error.message)
            await finish(bare, Stop(error=error.code, message=error.message))
            return Ended.FINISHED
        except JournalError:
            raise
        except Exception as error:  # noqa: BLE001 - a run's boundary: the others go on
            return await self._fail(session or OpenRun(self._means, writer, live, Granted()), error)
        finally:
            self.session = None
            if session is not None:
                session.leave()

    async def _grant(self, state: SessionState, run: RunState) -> Granted:
        principal = Principal(state.key.tenant, state.key.user, run.turn.roles)
        return await self._grants.granted(run.turn, principal, state.key)

    def _resume(self, writer: SessionWriter, run: RunState) -> None:
        why = "woken" if run.parked_until is not None else "recovered"
        writer.record(RunResumed(run=run.id, at=self._means.clock.now(), why=why))
        _log.info("run_resumed", why=why)

    async def _fail(self, session: OpenRun, error: Exception) -> Ended:
        """A fault of the harness ends the run with an id that the log explains."""
        fault = new_id("err")
        session.log.error("run_failed", fault=fault, exception=session.redactor.traceback(error))
        message = f"something went wrong inside the server; its log explains {fault}"
        await finish(session, Stop(error="internal", message=message))
        return Ended.FINISHED

    # Inside

    @property
    def _the_writer(self) -> SessionWriter:
        assert self._writer is not None
        return self._writer

    def _open_live(self, run_id: str, since: int) -> LiveBuffer:
        if self._live is None or self._live.run_id != run_id:
            if self._live is not None:
                self._hub.disown(self._live.run_id)
            run = self._the_writer.state.run
            anchor = run.anchor if run is not None and run.id == run_id else START
            self._live = self._hub.own(run_id, since, anchor)
        return self._live

    def _publish(self, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        state = self._the_writer.state
        if self._live is not None:
            self._live.publish(state.key.session, placed)
        self._watch(state, placed)

    def _abandon(self) -> None:
        """The journal took nothing more: followers are told, and a restart takes the run up where it is recorded."""
        if self._live is not None and not self._live.ended:
            self._live.fail("the session's journal cannot be written; the run resumes once it can")


def _planned(state: SessionState) -> list[str]:
    """A word on the plan that the turn before left open; later turns do not repeat it."""
    kept, last = state.plan, state.run
    is_open = kept is not None and not is_done(kept.plan) and last is not None and kept.run == last.id
    return [told_again(kept.plan)] if kept is not None and is_open else []


def _log_as(key: SessionKey, run: RunState) -> None:
    """Every log line of this task from here on, a tool's own too, says whose run it is about."""
    clear_contextvars()
    bind_contextvars(tenant=key.tenant, session=key.session, run=run.id, agent=run.turn.agent)
