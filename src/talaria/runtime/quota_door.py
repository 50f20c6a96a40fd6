"""The quotas at the door: a request has room under all that hold for it, or it is refused, and that is on record."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import structlog

from talaria.core.errors import QuotaExceeded, TalariaError
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.journal.index import AuditRow
from talaria.quotas.quotas import Quotas
from talaria.runtime.kit import Kit

_log = structlog.get_logger("talaria.quotas")


class Room:
    """The room of one request. `is_used`: the request became a turn."""

    is_used = False


class QuotaDoor:
    """Takes room for requests."""

    def __init__(self, kit: Kit, quotas: Quotas | None) -> None:
        self._audit = kit.audit
        self._quotas = quotas

    @asynccontextmanager
    async def room(self, key: SessionKey, agent: str) -> AsyncGenerator[Room]:
        """Hold room for a request; it is given back unless it was used.

        Raises:
            QuotaExceeded: there is none.
        """
        room = Room()
        if self._quotas is None:
            yield room
            return
        try:
            hold = await self._quotas.of(key.tenant, agent, key.user).admit()
        except QuotaExceeded as error:
            _log.info("quota_refused", tenant=key.tenant, user=key.user, quota=error.quota)
            row = AuditRow("quota", "refused", error.quota, detail=error.message)
            await self._audit.refused(Principal(key.tenant, key.user), row)
            raise
        try:
            yield room
        except TalariaError:
            await hold.give_back()
            raise  # after a cancellation nobody knows whether there is a turn: the room stays taken
        if not room.is_used:
            await hold.give_back()
