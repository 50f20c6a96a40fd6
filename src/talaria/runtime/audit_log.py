"""The audit, read: decisions of a tenant or a user, newest first, in pages or all of them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import msgspec

from talaria.core.errors import Forbidden
from talaria.core.ids import SessionKey, read_scope, scope_of
from talaria.core.principal import Principal
from talaria.journal.index import AUDIT, AuditRow
from talaria.journal.views import iso_time
from talaria.ports.journal import Put
from talaria.runtime.index_rows import AT_ONCE, all_rows
from talaria.runtime.kit import Kit
from talaria.runtime.listing import page_of, read_cursor

READER = "audit:read"
"""The role that sees the whole tenant."""

_row = msgspec.json.Decoder(AuditRow).decode


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which decisions somebody looks for; empty: any. `since` and `before` in ms."""

    action: str = ""
    outcome: str = ""
    user: str = ""
    since: int = 0
    before: int | None = None


class AuditLog:
    """Read-only views, as JSON values of the wire."""

    def __init__(self, kit: Kit) -> None:
        self._index = kit.store.index

    async def page(self, principal: Principal, wanted: Wanted, cursor: str | None, limit: int) -> dict[str, Any]:
        """A page of decisions: {entries: […], next?: cursor}. It may be short, or empty, and have a next one too.

        Raises:
            Forbidden: the principal may not see another user's.
            InvalidRequest: the cursor is not one that a page returned.
        """
        before = read_cursor(cursor) if cursor else None
        at_once = AT_ONCE if wanted.action or wanted.outcome else limit + 1
        rows = self._rows(_scope(principal, wanted), wanted, before, at_once)
        found, page = await page_of(rows, lambda row: _is_wanted(row, wanted), limit)
        return {"entries": [_view(row) for row in found]} | page

    def every(self, principal: Principal, wanted: Wanted) -> AsyncIterator[dict[str, Any]]:
        """Yield all decisions that there are now, read piece by piece.

        Raises:
            Forbidden: at once: the principal may not see another user's.
        """
        rows = self._rows(_scope(principal, wanted), wanted)
        return (_view(row) async for row in rows if _is_wanted(row, wanted))

    def _rows(
        self, scope: str, wanted: Wanted, before: tuple[int, str] | None = None, at_once: int = AT_ONCE
    ) -> AsyncIterator[Put]:
        if wanted.before is not None:
            before = min(before or (wanted.before, ""), (wanted.before, ""))
        return all_rows(self._index, AUDIT, scope, since=wanted.since, before=before, at_once=at_once)


def _scope(principal: Principal, wanted: Wanted) -> str:
    """What the principal may see of what is wanted."""
    visible = principal.scope(READER)
    if not wanted.user:
        return visible
    scope = scope_of(principal.tenant, wanted.user)
    if visible not in (scope, scope_of(principal.tenant)):
        raise Forbidden(f"to see what concerns other users you need the role {READER}")
    return scope


def _is_wanted(row: Put, wanted: Wanted) -> bool:
    if not (wanted.action or wanted.outcome):
        return True
    data = _row(row.data)
    return wanted.action in ("", data.action) and wanted.outcome in ("", data.outcome)


def _view(row: Put) -> dict[str, Any]:
    """A decision as the wire shows it; what is empty is left out."""
    data, (_, user) = _row(row.data), read_scope(row.scope)
    view = {"action": data.action, "outcome": data.outcome, "at": iso_time(row.at), "userId": user}
    view |= {"subject": data.subject, "rule": data.rule, "by": data.by, "detail": data.detail}
    view |= {"sessionId": SessionKey.parse(data.session).session if data.session else "", "runId": data.run}
    view["toolCallId"] = data.call_id
    return {name: value for name, value in view.items() if value}
