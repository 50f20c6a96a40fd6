"""Retention: sessions go some time after their last turn, with all that hangs on them; decisions by their own age."""

import structlog

from talaria.artifacts.files import Files
from talaria.core.ids import SessionKey
from talaria.journal.index import AUDIT, SESSION, TURN, WAKE
from talaria.ports.journal import Drop, Put
from talaria.runtime.engine import Engine
from talaria.runtime.expiry import milliseconds
from talaria.runtime.index_rows import all_rows
from talaria.runtime.kit import Kit
from talaria.runtime.sandboxes import Sandboxes
from talaria.telemetry.transcripts import Transcripts

EVERY = 60.0
"""Seconds between two sweeps."""
PAUSE = 1.0
"""Seconds after a sweep that has left some for the next."""
BATCH = 100
"""How many sessions one sweep deletes at most, of each kind: the store has other work."""
AUDIT_BATCH = 1_000
"""How many decisions one sweep deletes at most."""

_log = structlog.get_logger("talaria.retention")


class Retention:
    """Deletes what is old enough. A session with a run that is not over stays, however old it is."""

    def __init__(
        self, kit: Kit, engine: Engine, transcripts: Transcripts | None, files: Files, sandboxes: Sandboxes
    ) -> None:
        self._files = files
        self._store = kit.store
        self._clock = kit.clock
        self._engine = engine
        self._transcripts = transcripts
        self._sandboxes = sandboxes
        self._age = milliseconds(kit.settings.sessions.retention)
        self._audit_age = milliseconds(kit.settings.audit.retention)

    async def watch(self) -> None:
        """Sweep for ever."""
        while True:
            is_done = await self.sweep()
            await self._clock.sleep(EVERY if is_done else PAUSE)

    async def sweep(self) -> bool:
        """Delete what is old enough, oldest first, up to a bound; return whether that was all."""
        is_done = await self._sweep_audit()
        if self._age is None:
            return is_done
        until = self._clock.now() - self._age
        counts = [await self._sweep_kind(kind, until) for kind in (SESSION, TURN)]
        if any(counts):
            _log.info("sessions_deleted", sessions=counts[0], turns_without_memory=counts[1])
        return is_done and max(counts) < BATCH

    async def _sweep_audit(self) -> bool:
        """Decisions have an age of their own, whatever becomes of the sessions."""
        if self._audit_age is None:
            return True
        rows = await self._store.index.due(AUDIT, self._clock.now() - self._audit_age, AUDIT_BATCH)
        if rows:
            await self._store.index.put([Drop(AUDIT, row.key) for row in rows])
            _log.info("audit_rows_deleted", rows=len(rows))
        return len(rows) < AUDIT_BATCH

    async def _sweep_kind(self, kind: str, until: int) -> int:
        kept, gone = set[str](), 0
        while gone < BATCH:
            rows = await self._store.index.due(kind, until, BATCH + len(kept))
            new = [row for row in rows if row.key not in kept]
            if not new:
                break
            for row in new[: BATCH - gone]:
                if await self._delete(row, until):
                    gone += 1
                else:
                    kept.add(row.key)
        return gone

    async def _delete(self, row: Put, until: int) -> bool:
        if await self._is_in_use(row, until):
            return False
        if not self._engine.is_at_rest(row.key):  # looked at last: a turn that comes from here on finds a new session
            return False
        self._engine.forget(row.key)
        if self._transcripts is not None:
            self._transcripts.forget(SessionKey.parse(row.key))
        if row.kind == SESSION:
            self._sandboxes.forget(SessionKey.parse(row.key))
        await self._files.delete_of(row.key)
        await self._store.journal.delete(row.key)
        return True

    async def _is_in_use(self, row: Put, until: int) -> bool:
        """Whether a run of the session is not over, or one of its turns without memory is younger."""
        inside = f"{row.key}/"
        awake = [wake.key async for wake in all_rows(self._store.index, WAKE, row.scope)]
        if any(key == row.key or key.startswith(inside) for key in awake + await self._store.inbox.waiting()):
            return True
        async for turn in all_rows(self._store.index, TURN, row.scope):
            if turn.at <= until:
                break
            if turn.key.startswith(inside):
                return True
        now = await self._store.index.get(row.kind, row.key)
        return now is None or now.at > until
