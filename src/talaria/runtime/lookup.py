"""Looking things up: runs, sessions, open questions, event streams; all within what a principal may see."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import msgspec

from talaria.core.errors import InternalError, InvalidRequest, NotFound
from talaria.core.events import START, Position
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.index import APPROVAL, RUN, SESSION, TURN, WAKE, ApprovalRow, RunRow, SessionRow
from talaria.journal.session import load_state
from talaria.journal.state import SessionState
from talaria.journal.transcript import wire_messages
from talaria.journal.views import iso_time
from talaria.live.follow import RunSource, follow
from talaria.live.frames import Frame
from talaria.ports.journal import Put
from talaria.runtime.kit import Kit
from talaria.runtime.results import RunResult, result_of

PAGE = 50
AT_ONCE = 1_000
_run = msgspec.json.Decoder(RunRow).decode
_session = msgspec.json.Decoder(SessionRow).decode
_approval = msgspec.json.Decoder(ApprovalRow).decode


class Lookup:
    """Read-only views, as JSON values of the wire."""

    def __init__(self, kit: Kit) -> None:
        self._store = kit.store
        self._hub = kit.hub

    # Runs

    async def place(self, principal: Principal, run_id: str) -> SessionKey:
        """The session in which a run is, or waits to be.

        Raises:
            NotFound: no such run for this principal.
        """
        row = await self._store.index.get(RUN, run_id)
        letter = None if row is not None else await self._store.inbox.turn(run_id)
        where = row.session if row is not None else letter.session if letter is not None else None
        if where is not None:
            key = SessionKey.parse(where)
            if principal.may_see(key.tenant, key.user):
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
        foreign = 0 < run.last < after[0]
        if not foreign and after[0] > run.first:
            foreign = not await self._store.journal.read(row.session, after[0] - 1, 1)
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
        return await self._questions(self._scope(principal), lambda _: True)

    async def _questions(self, scope: str, is_wanted: Callable[[Put], bool]) -> list[dict[str, Any]]:
        rows = [row async for row in self._all(APPROVAL, scope) if is_wanted(row)]
        return [_approval_view(row) for row in reversed(rows)]

    async def _all(self, kind: str, scope: str) -> AsyncIterator[Put]:
        before: tuple[int, str] | None = None
        while rows := await self._store.index.find(kind, scope, before=before, limit=AT_ONCE):
            for row in rows:
                yield row
            if len(rows) < AT_ONCE:
                return
            before = (rows[-1].at, rows[-1].key)

    # Sessions

    async def sessions(self, principal: Principal, cursor: str | None = None, limit: int = PAGE) -> dict[str, Any]:
        """A page of sessions, newest first: {sessions: […], next?: cursor}.

        Raises:
            InvalidRequest: the cursor is not one that a page returned.
        """
        before = _read_cursor(cursor) if cursor else None
        rows = await self._store.index.find(SESSION, self._scope(principal), before=before, limit=limit + 1)
        page: dict[str, Any] = {"sessions": [_session_view(row) for row in rows[:limit]]}
        if len(rows) > limit:
            page["next"] = f"{rows[limit - 1].at}~{rows[limit - 1].key}"
        return page

    async def session_row(self, principal: Principal, session_id: str, assistant: str | None = None) -> Put:
        """The index row of a session; of one that has only turns without memory, a row made of theirs.

        `assistant`: "" or "-" for the session without one; None for that too, or else the only one of this id.

        Raises:
            NotFound: no such session for this principal.
            InvalidRequest: several assistants (or users) have a session of this id; say which.
        """
        if not principal.everyone:
            path = SessionKey(principal.tenant, principal.user, assistant or "-", session_id).path
            if (row := await self._store.index.get(SESSION, path)) is not None:
                return row
        rows = await self._named(principal, session_id, "-" if assistant == "" else assistant)
        if not rows:
            raise NotFound(f"no session '{session_id[:128]}'")
        if len(rows) > 1:
            raise InvalidRequest(f"there are {len(rows)} sessions '{session_id}'; add assistantId (and userId)")
        return rows[0]

    async def _named(self, principal: Principal, session_id: str, assistant: str | None) -> list[Put]:
        """The sessions of this id, those without an assistant alone if there are any and none is asked for."""
        found: dict[str, list[Put]] = {}
        for kind in (SESSION, TURN):
            async for row in self._all(kind, self._scope(principal)):
                key = SessionKey.parse(row.key)
                if key.session == session_id and assistant in (None, key.assistant):
                    found.setdefault(_whole(key).path, []).append(row)
        bare = {path: rows for path, rows in found.items() if SessionKey.parse(path).assistant == "-"}
        return [_session_of(path, rows) for path, rows in (bare or found).items()]

    async def state(self, principal: Principal, session_id: str, assistant: str | None = None) -> SessionState:
        """What is on record of a session.

        Raises:
            NotFound: no such session for this principal.
        """
        row = await self.session_row(principal, session_id, assistant)
        return await load_state(self._store.journal, self._store.blobs, SessionKey.parse(row.key))

    async def session(self, principal: Principal, session_id: str, assistant: str | None = None) -> dict[str, Any]:
        """A session with its messages, and its open questions."""
        row = await self.session_row(principal, session_id, assistant)
        key = SessionKey.parse(row.key)
        state = await load_state(self._store.journal, self._store.blobs, key)
        view = _session_view(row)
        view["messages"] = wire_messages(state.prompt.messages)
        if state.active is not None:
            view["activeRun"] = state.active.id
        questions = await self._questions(key.scope, lambda row: _whole(SessionKey.parse(row.session)) == key)
        return view | ({"approvals": questions} if questions else {})

    @staticmethod
    def _scope(principal: Principal) -> str:
        scope = SessionKey(principal.tenant, principal.user, "-", "-").scope
        return scope.rsplit("/", 1)[0] + "/" if principal.everyone else scope


def _whole(key: SessionKey) -> SessionKey:
    """The session in which a turn without memory is."""
    return SessionKey(key.tenant, key.user, key.assistant, key.session)


def _session_of(path: str, rows: list[Put]) -> Put:
    """A session's own row where there is one, else what the rows of its turns make together."""
    if rows[0].kind == SESSION:
        return rows[0]
    turns = sorted((_session(row.data) for row in rows), key=lambda turn: turn.created)
    data = SessionRow(turns[0].title, turns[0].created, len(turns))
    return Put(SESSION, path, path, rows[0].scope, max(row.at for row in rows), msgspec.json.encode(data))


def _asks(row: Put) -> str:
    return _approval(row.data).run


def _session_view(row: Put) -> dict[str, Any]:
    key, data = SessionKey.parse(row.key), _session(row.data)
    view: dict[str, Any] = {"sessionId": key.session, "userId": key.user, "title": data.title, "turns": data.turns}
    if key.assistant != "-":
        view["assistantId"] = key.assistant
    return view | {"createdAt": iso_time(data.created), "updatedAt": iso_time(row.at)}


def _approval_view(row: Put) -> dict[str, Any]:
    data, key = _approval(row.data), SessionKey.parse(row.session)
    call = {"id": data.call_id, "name": data.name, "arguments": data.arguments}
    return {
        "requestId": row.key,
        "runId": data.run,
        "sessionId": key.session,
        "userId": key.user,
        "toolCalls": [call],
        "reason": data.reason,
        "createdAt": iso_time(data.asked_at),
        "expiresAt": iso_time(data.expires_at),
    }


def _read_cursor(cursor: str) -> tuple[int, str]:
    at, tilde, key = cursor.partition("~")
    if not tilde or not (at.isascii() and at.isdigit()) or len(at) > 15:
        raise InvalidRequest("cursor is not one that this endpoint returned")
    return int(at), key
