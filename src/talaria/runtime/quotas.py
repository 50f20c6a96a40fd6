"""The quotas of a runtime: made of its parts, and brought to where an earlier process left them."""

from collections.abc import Callable, Sequence

import structlog

from talaria.core.errors import InvalidRequest, JournalError
from talaria.core.ids import SessionKey, read_scope
from talaria.journal.index import RUN_NOW, USAGE, WAKE, usage_rows
from talaria.journal.letters import read_turn
from talaria.journal.session import load_state
from talaria.journal.spending import UsageRow
from talaria.models.routes import Route, find_route
from talaria.ports.journal import Put
from talaria.ports.profile import Profile
from talaria.ports.store import Store
from talaria.quotas.quotas import Quotas
from talaria.quotas.rules import Rules
from talaria.quotas.windows import Windows
from talaria.runtime.kit import Kit
from talaria.runtime.usage_rows import rows_between, usage_row
from talaria.stores.memory.counters import MemoryCounters

EVERY = 1_000_000
_log = structlog.get_logger("talaria.quotas")


async def make_quotas(kit: Kit, rules: Rules | None, routes: Sequence[Route]) -> Quotas | None:
    """Return the quotas with all that is on record counted; None where there are none."""
    if rules is None:
        return None
    quotas = Quotas(
        rules,
        MemoryCounters(),
        Windows(kit.clock),
        profiles=_profiles(routes),
        answer_tokens=kit.settings.quotas.answer_tokens,
        on_refusal=lambda limit: kit.metrics.count("quota_refusals", level=limit.level, quota=limit.budget.field),
    )
    await _count_what_was(quotas, kit.store)
    return quotas


async def _count_what_was(quotas: Quotas, store: Store) -> None:
    """Count what was used today, and the requests that were admitted and have not begun."""
    today, _ = quotas.windows.now("day")
    going_on = {row.key: row for row in await _going_on(store)}
    async for put in rows_between(store.index, USAGE, None, today, None):
        if put.key not in going_on:
            await quotas.count(*read_scope(put.scope), put.at, usage_row(put.data))
    for put in going_on.values():
        await quotas.count(*read_scope(put.scope), put.at, usage_row(put.data))
    for session in await store.inbox.waiting():
        for letter in await store.inbox.pending(session):
            if letter.kind == "turn":
                body, key = read_turn(letter), SessionKey.parse(letter.session)
                row = UsageRow(body.agent, body.model, requests=1)
                await quotas.count(key.tenant, key.user, letter.at, row)


async def _going_on(store: Store) -> list[Put]:
    """The rows of runs that were at work when the last process ended: the index has only their beginnings."""
    rows: list[Put] = []
    for wake in await store.index.due(WAKE, RUN_NOW, EVERY):
        try:
            state = await load_state(store.journal, store.blobs, SessionKey.parse(wake.session))
        except JournalError as error:  # it cannot go on either; what the index has of it counts
            _log.error("usage_unreadable", journal=wake.session, error=error.message)
            continue
        if state.active is not None:
            rows += usage_rows(state, state.active)
    return rows


def _profiles(routes: Sequence[Route]) -> Callable[[str], Sequence[Profile]]:
    """The profiles of a model and of its fallbacks."""

    def profiles(model: str) -> Sequence[Profile]:
        try:
            route = find_route(routes, model)
            return [find_route(routes, name).profile_of(name) for name in (model, *route.fallback)]
        except InvalidRequest:
            return ()

    return profiles
