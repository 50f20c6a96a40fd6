"""Deleting a session, with everything that hangs on it."""

from talaria.artifacts.files import Files
from talaria.core.errors import Conflict
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.index import WAKE
from talaria.journal.letters import cancel_letter
from talaria.ports.journal import Put
from talaria.runtime.engine import Engine
from talaria.runtime.kit import Kit
from talaria.runtime.lookup import Lookup
from talaria.runtime.sandboxes import Sandboxes
from talaria.telemetry.transcripts import Transcripts

PATIENCE = 10.0
"""Seconds that a running turn has to end."""
EVERY = 1_000_000


class Deletion:
    """Ends what runs in a session, then removes it."""

    def __init__(
        self,
        kit: Kit,
        engine: Engine,
        lookup: Lookup,
        transcripts: Transcripts | None,
        files: Files,
        sandboxes: Sandboxes,
    ) -> None:
        self._files = files
        self._transcripts = transcripts
        self._sandboxes = sandboxes
        self._kit = kit
        self._engine = engine
        self._lookup = lookup

    async def delete(self, principal: Principal, session_id: str, assistant: str | None = None) -> None:
        """Cancel the session's turns, wait until they have ended, and delete it.

        Raises:
            NotFound: no such session for this principal.
            Conflict: its turns did not end in time; nothing was deleted.
        """
        row = await self._lookup.session_row(principal, session_id, assistant, expired=True)
        for path in await self._at_work(row):
            await self._cancel_all(path)
            if not await self._engine.settle(path, PATIENCE):
                raise Conflict(f"session '{session_id}' still runs; cancel its run and try again")
            self._engine.forget(path)
        await self._sandboxes.remove(SessionKey.parse(row.key))
        await self._files.delete_of(row.key)
        await self._kit.store.journal.delete(row.key)
        if self._transcripts is not None:
            self._transcripts.forget(SessionKey.parse(row.key))

    async def _at_work(self, session: Put) -> list[str]:
        """The paths of the session, and of those of its turns without memory that are not over."""
        paths = {row.session: None for row in await self._kit.store.index.find(WAKE, session.scope, limit=EVERY)}
        waiting = dict.fromkeys(await self._kit.store.inbox.waiting())
        return [session.key, *(path for path in paths | waiting if path.startswith(f"{session.key}/"))]

    async def _cancel_all(self, path: str) -> None:
        inbox, now = self._kit.store.inbox, self._kit.clock.now()
        view = await self._lookup.active_runs(SessionKey.parse(path))
        for run_id in view:
            await inbox.put(cancel_letter(path, run_id, now))
        if view:
            self._engine.wake(path)
