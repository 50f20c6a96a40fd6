"""Deleting a session, with everything that hangs on it."""

from talaria.core.errors import Conflict
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.letters import cancel_letter
from talaria.runtime.engine import Engine
from talaria.runtime.kit import Kit
from talaria.runtime.lookup import Lookup

PATIENCE = 10.0
"""Seconds that a running turn has to end."""


class Deletion:
    """Ends what runs in a session, then removes it."""

    def __init__(self, kit: Kit, engine: Engine, lookup: Lookup) -> None:
        self._kit = kit
        self._engine = engine
        self._lookup = lookup

    async def delete(self, principal: Principal, session_id: str, assistant: str | None = None) -> None:
        """Cancel the session's turns, wait until they have ended, and delete it.

        Raises:
            NotFound: no such session for this principal.
            Conflict: its turns did not end in time; nothing was deleted.
        """
        row = await self._lookup.session_row(principal, session_id, assistant)
        await self._cancel_all(row.key)
        if not await self._engine.settle(row.key, PATIENCE):
            raise Conflict(f"session '{session_id}' still runs; cancel its run and try again")
        self._engine.forget(row.key)
        await self._kit.store.journal.delete(row.key)

    async def _cancel_all(self, path: str) -> None:
        inbox, now = self._kit.store.inbox, self._kit.clock.now()
        view = await self._lookup.active_runs(SessionKey.parse(path))
        for run_id in view:
            await inbox.put(cancel_letter(path, run_id, now))
        if view:
            self._engine.wake(path)
