"""Looking things up: runs, sessions, open questions, event streams; all within what a principal may see."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import msgspec

from talaria.core.errors import InternalError, InvalidRequest, NotFound
from talaria.core.events import START, Position, seen_seq
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.index import APPROVAL, RUN, SESSION, TURN, WAKE, ApprovalRow, RunRow
from talaria.journal.questions import CLIENT, FOR_USER, QUESTION, read_question
from talaria.journal.session import load_state
from talaria.journal.state import SessionState
from talaria.journal.transcript import wire_messages
from talaria.journal.views import iso_time
from talaria.live.follow import RunSource, follow
from talaria.live.frames import Frame
from talaria.ports.journal import Put
from talaria.runtime.deciders import Deciders
from talaria.runtime.expiry import Expiry
from talaria.runtime.index_rows import AT_ONCE, all_rows
from talaria.runtime.kit import Kit
from talaria.runtime.listing import is_match, one_each, page_of, read_cursor, session_row, session_view, whole
from talaria.runtime.results import RunResult, result_of

PAGE = 50

_run = msgspec.json.Decoder(RunRow).decode
_approval = msgspec.json.Decoder(ApprovalRow).decode


class Lookup:
    """Read-only views, as JSON values of the wire."""

    def __init__(self, kit: Kit) -> None:
        self._store = kit.store
        self._hub = kit.hub
        self._clock = kit.clock
        self._expiry = Expiry.of(kit.settings.sessions)
        self._deciders = Deciders(kit.settings.approval)

    # Runs

    async def place(self, principal: Principal, run_id: str) -> SessionKey:
        """The session in which a run is, or waits to be.

        Raises:
            NotFound: no such run for this principal, or its session has expired.
        """
        row = await self._store.index.get(RUN, run_id)
        letter = None if row is not None else await self._store.inbox.turn(run_id)
        where = row.session if row is not None else letter.session if letter is not None else None
        if where is not None:
            key = SessionKey.parse(where)
            first = 0 if row is None else _run(row.data).first
            if principal.may_see(key.tenant, key.user) and not (first and await self._is_over(key, first)):
                return key
        raise NotFound(f"no run '{run_id[:80]}'")

    async def run(self, principal: Principal, run_id: str) -> dict[str, Any]:
        """How a run stands: queued, running, waiting_approval (with its open questions) or finished."""
        key = await self.place(principal, run_id)
        row = await self._store.index.get(RUN, run_id)
        if row is None:
            return {"runId": run_id, "sessionId": key.session, "status": "queued"}
        run = _run(row.data)
        approvals = (
            [] if run.status == "finished" else await self._questions(key.scope, lambda row: _asks(row) == run_id)
        )
        status = "waiting_approval" if run.status == "parked" else run.status
        view: dict[str, Any] = {"runId": run_id, "sessionId": key.session, "status": status, "agent": run.agent}
        view |= {"modelName": run.model, "startedAt": iso_time(run.started)}
        if run.finished:
            view |= {"finishedAt": iso_time(run.finished), "reason": run.error or run.reason}
        if approvals:
            view["approvals"] = approvals
        return view

    async def active_runs(self, key: SessionKey) -> list[str]:
        """The session's runs that are not over: the one at work or parked, then those that wait in line."""
        wake = await self._store.index.get(WAKE, key.path)
        letters = await self._store.inbox.pending(key.path)
        return [*([wake.data.decode()] if wake else []), *(each.run for each in letters if each.kind == "turn")]

    async def check_position(self, run_id: str, after: Position) -> None:
        """Refuse a position that is behind the end of a run, or behind all that was recorded so far.

        Raises:
            InvalidRequest: no event of the run can have it.
        """
        row = await self._store.index.get(RUN, run_id) if after != START else None
        if row is None:
            return
        run = _run(row.data)
        seq = seen_seq(after)
        foreign = 0 < run.last < seq
        if not foreign and seq > run.first:
            foreign = not await self._store.journal.read(row.session, seq - 1, 1)
        if foreign:
            raise InvalidRequest("this event id is of no event of this run; send back an id exactly as it was received")

    async def follow(self, run_id: str, key: SessionKey, after: Position = START) -> AsyncGenerator[list[Frame]]:
        """Yield a run's frames after a position, live or replayed, until its end.

        `key` is where the run is: `place` finds it for who may see it. A position that came from outside must have
        passed `check_position`.
        """
        store = self._store

        async def locate() -> RunSource | None:
            row = await store.index.get(RUN, run_id)
            return None if row is None else RunSource(store.journal, store.blobs, key, run_id, _run(row.data).first)

        async with aclosing(follow(self._hub, run_id, locate, after)) as batches:
            async for frames in batches:
                yield frames

    async def result(self, run_id: str, principal: Principal) -> RunResult:
        """Wait for the end of a run; return its result.

        Raises:
            NotFound: no such run for this principal.
            TalariaError: the run ended with an error, or does not end in this process.
        """
        key = await self.place(principal, run_id)
        async for _ in self.follow(run_id, key):
            pass
        state = await load_state(self._store.journal, self._store.blobs, key, until=run_id)
        end = state.run.finished if state.run is not None and state.run.id == run_id else None
        if end is None:
            raise InternalError(f"run {run_id} does not end here; it resumes when its store is opened again")
        return result_of(state, end)

    # Questions

    async def approvals(self, principal: Principal) -> list[dict[str, Any]]:
        """The open questions that this principal may decide, soonest deadline first."""
        deciders = self._deciders
        scope = principal.scope(deciders.role(principal.roles))

        def is_theirs(row: Put) -> bool:
            reason = _approval(row.data).reason
            if reason == CLIENT:
                return False  # nothing to decide about
            for_user = reason in FOR_USER
            return deciders.may_decide(principal, SessionKey.parse(row.session), for_user=for_user)

        return await self._questions(scope, is_theirs)

    async def _questions(self, scope: str, is_wanted: Callable[[Put], bool]) -> list[dict[str, Any]]:
        rows = [row async for row in all_rows(self._store.index, APPROVAL, scope) if is_wanted(row)]
        return [_approval_view(row) for row in reversed(rows)]

    # Sessions

    async def sessions(
        self, principal: Principal, cursor: str | None = None, limit: int = PAGE, search: str = ""
    ) -> dict[str, Any]:
        """A page of sessions, newest first: {sessions: […], next?: cursor}.

        `search`: only sessions that have all of its words, see `listing.is_match`. A page may then be short, or empty,
        and have a next one all the same: so much is looked through at once, and not more.

        Raises:
            InvalidRequest: the cursor is not one that a page returned.
        """
        before = read_cursor(cursor) if cursor else None
        scope, words = principal.scope(), search.casefold().split()
        awake = await self._awake(scope)
        at_once = AT_ONCE if words else limit + 1
        rows = all_rows(self._store.index, SESSION, scope, before=before, at_once=at_once)

        def is_wanted(row: Put) -> bool:
            return is_match(row, words) and (row.key in awake or not self._is_old(row))

        found, page = await page_of(rows, is_wanted, limit)
        return {"sessions": [session_view(row) for row in found]} | page

    async def _awake(self, scope: str) -> set[str]:
        """The sessions that cannot expire now, because a run in them is not over."""
        return {row.key async for row in all_rows(self._store.index, WAKE, scope)} if self._expiry.is_on else set()

    def _is_old(self, row: Put) -> bool:
        return self._expiry.is_over(session_row(row.data).created, row.at, self._clock.now())

    async def _has_expired(self, row: Put) -> bool:
        return self._is_old(row) and await self._store.index.get(WAKE, row.key) is None

    async def _is_over(self, key: SessionKey, first: int) -> bool:
        """Whether what a run said has expired with its session; `first` is the seq at which the run begins."""
        row = await self._store.index.get(TURN if key.run else SESSION, key.path)
        return row is not None and (first <= session_row(row.data).since or await self._has_expired(row))

    async def _load(self, key: SessionKey) -> SessionState:
        state = await load_state(self._store.journal, self._store.blobs, key)
        if self._expiry.ends(state, self._clock.now()):
            state.begin()
        return state

    async def session_row(
        self, principal: Principal, session_id: str, assistant: str | None = None, *, expired: bool = False
    ) -> Put:
        """The index row of a session; of one that has only turns without memory, a row made of theirs.

        `assistant`: "" or "-" for the session without one; None for that too, or else the only one of this id.
        `expired`: those that have expired count too.

        Raises:
            NotFound: no such session for this principal.
            InvalidRequest: several assistants (or users) have a session of this id; say which.
        """
        if not principal.everyone:
            path = SessionKey(principal.tenant, principal.user, assistant or "-", session_id).path
            row = await self._store.index.get(SESSION, path)
            if row is not None and (expired or not await self._has_expired(row)):
                return row
        named = await self._named(principal, session_id, "-" if assistant == "" else assistant)
        rows = one_each([row for row in named if expired or not await self._has_expired(row)])
        if not rows:
            raise NotFound(f"no session '{session_id[:128]}'")
        if len(rows) > 1:
            raise InvalidRequest(f"there are {len(rows)} sessions '{session_id}'; add assistantId (and userId)")
        return rows[0]

    async def _named(self, principal: Principal, session_id: str, assistant: str | None) -> list[Put]:
        """The rows of sessions of this id, and of their turns without memory."""
        found = list[Put]()
        for kind in (SESSION, TURN):
            async for row in all_rows(self._store.index, kind, principal.scope()):
                key = SessionKey.parse(row.key)
                if key.session == session_id and assistant in (None, key.assistant):
                    found.append(row)
        return found

    async def state(self, principal: Principal, session_id: str, assistant: str | None = None) -> SessionState:
        """What is on record of a session.

        Raises:
            NotFound: no such session for this principal.
        """
        row = await self.session_row(principal, session_id, assistant)
        return await self._load(SessionKey.parse(row.key))

    async def session(self, principal: Principal, session_id: str, assistant: str | None = None) -> dict[str, Any]:
        """A session with its messages, and its open questions."""
        row = await self.session_row(principal, session_id, assistant)
        key = SessionKey.parse(row.key)
        state = await self._load(key)
        view = session_view(row)
        view["messages"] = wire_messages(state.prompt.messages)
        if state.active is not None:
            view["activeRun"] = state.active.id
        questions = await self._questions(key.scope, lambda row: whole(SessionKey.parse(row.session)) == key)
        return view | ({"approvals": questions} if questions else {})


def _asks(row: Put) -> str:
    return _approval(row.data).run


def _approval_view(row: Put) -> dict[str, Any]:
    data, key = _approval(row.data), SessionKey.parse(row.session)
    call = {"id": data.call_id, "name": data.name, "arguments": data.arguments}
    view: dict[str, Any] = {
        "requestId": row.key,
        "runId": data.run,
        "sessionId": key.session,
        "userId": key.user,
        "toolCalls": [call],
        "reason": data.reason,
        "createdAt": iso_time(data.asked_at),
        "expiresAt": iso_time(data.expires_at),
    }
    if data.reason == QUESTION:
        asked = read_question(data.arguments)
        view |= {"question": asked.question} | ({"choices": list(asked.choices)} if asked.choices else {})
    return view
