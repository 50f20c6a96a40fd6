"""The audit of what no session can have on record: logins that were refused, and requests refused before a session."""

import msgspec
import structlog

from talaria.core.errors import JournalError
from talaria.core.ids import new_id, scope_of
from talaria.core.principal import Principal
from talaria.journal.index import AUDIT, AuditRow
from talaria.ports.clock import Clock
from talaria.ports.journal import Put
from talaria.ports.store import Store

LOGINS = 100
"""Refused logins that are recorded one by one in an hour; of more, their number is: a flood must not fill a disk."""
HOUR = 3600_000
MINUTE = 60_000

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger("talaria.audit")


class Audit:
    """Writes index rows that hang on no session. `home`: the tenant of what belongs to none."""

    def __init__(self, store: Store, clock: Clock, home: str) -> None:
        self._store = store
        self._clock = clock
        self._nobody = Principal(home, "")
        self._hour = 0
        self._recorded = 0
        self._uncounted = 0

    async def record(self, principal: Principal, action: str, outcome: str, **about: str) -> None:
        """Record a decision about a principal; `about` are members of journal.index.AuditRow.

        What cannot be written is in the log: a refusal stays a refusal all the same.
        """
        await self._write(
            new_id("audit"), scope_of(principal.tenant, principal.user), AuditRow(action, outcome, **about)
        )

    async def refused(self, principal: Principal, row: AuditRow) -> None:
        """Record that a request was refused; once a minute for each user and subject, as for logins."""
        scope = scope_of(principal.tenant, principal.user)
        await self._write(f"{row.action}/{scope}/{row.subject}/{self._clock.now() // MINUTE}", scope, row)

    async def _write(self, name: str, scope: str, row: AuditRow) -> None:
        try:
            await self._store.index.put([Put(AUDIT, name, "", scope, self._clock.now(), _encode(row))])
        except JournalError as error:
            _log.error("audit_not_written", why=error.message, **msgspec.structs.asdict(row))

    async def login_refused(self, why: str) -> None:
        """Record that somebody was not let in, unless very many were not."""
        hour = self._clock.now() // HOUR
        if hour != self._hour:
            missed, self._hour, self._recorded, self._uncounted = self._uncounted, hour, 0, 0
            if missed:
                await self.record(self._nobody, "login", "refused", detail=f"{missed} more in an earlier hour")
        if self._recorded == LOGINS:
            self._uncounted += 1
            return
        self._recorded += 1
        await self.record(self._nobody, "login", "refused", detail=why)
