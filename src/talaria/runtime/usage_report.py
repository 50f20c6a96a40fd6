"""Usage, as the wire shows it: sums over days, by whatever is asked for."""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.core.ids import read_scope
from talaria.core.principal import Principal
from talaria.journal.index import USAGE
from talaria.journal.spending import Spent
from talaria.ports.journal import Put
from talaria.quotas.windows import day_start
from talaria.runtime.index_rows import AT_ONCE
from talaria.runtime.kit import Kit
from talaria.runtime.usage_rows import DAYS, rows_between, summed_until, usage_row
from talaria.tools.nearest import suggestion

READER = "usage:read"
"""The role that sees the usage of its whole tenant."""
NAMES = ("tenant", "user", "agent", "model", "day")
LABEL = "label:"
DEFAULT_DAYS, MOST_DAYS, MOST_GROUPS, MOST_NAMES = 30, 3_660, 10_000, 16
UNKNOWN = "unknown"
"""The currency of a model whose route is gone."""
_DATE = re.compile(r"2\d{3}-\d\d-\d\d")

Group = tuple[str | None, ...]


class _Sum(msgspec.Struct):
    requests: int = 0
    runs: int = 0
    calls: int = 0
    spent: Spent = msgspec.field(default_factory=Spent)
    cost: dict[str, float] = {}


class UsageReport:
    """Sums up usage. `currency` names that of a model's price, "" where none is known."""

    def __init__(self, kit: Kit, currency: Callable[[str], str]) -> None:
        self._index = kit.store.index
        self._clock = kit.clock
        self._currency = currency

    async def usage(
        self, principal: Principal, by: Sequence[str], first: str | None = None, last: str | None = None
    ) -> dict[str, Any]:
        """The usage of the days from `first` to `last` (dates of the server's time zone, both included).

        Raises:
            InvalidRequest: there is no such grouping, or the dates are none.
        """
        if len(by) > MOST_NAMES:
            raise _wrong("by", f"usage is grouped by at most {MOST_NAMES} names")
        for name in by:
            if name not in NAMES and not (name.startswith(LABEL) and name != LABEL):
                known = [*NAMES, f"{LABEL}NAME"]
                raise _wrong("by", f"usage cannot be grouped by '{name[:80]}'{suggestion(name, known)}")
        begin, end = self._days(first, last)
        sums: dict[Group, _Sum] = {}
        rows = await self._rows(principal.scope(READER), self._at(begin), self._at(end + timedelta(days=1)))
        for number, put in enumerate(rows):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)  # runs go on while a large tenant is summed up
            self._add(sums, put, by)
            if len(sums) > MOST_GROUPS:
                raise _wrong("by", f"more than {MOST_GROUPS:,} groups; take fewer days, or group by less")
        groups = sorted(sums.items(), key=lambda each: [(name is not None, name or "") for name in each[0]])
        usage = [{"group": dict(zip(by, group, strict=True)), **_view(total)} for group, total in groups]
        return {"from": begin.isoformat(), "to": end.isoformat(), "usage": usage}

    async def _rows(self, scope: str, begin: int, end: int) -> list[Put]:
        """Rows of days as far as there are such, then those of minutes; read anew if days were summed up meanwhile."""
        while True:
            summed = await summed_until(self._index)
            days = [row async for row in rows_between(self._index, DAYS, scope, begin, min(end, summed))]
            minutes = [row async for row in rows_between(self._index, USAGE, scope, max(begin, summed), end)]
            if await summed_until(self._index) == summed:
                return days + minutes

    def _add(self, sums: dict[Group, _Sum], put: Put, by: Sequence[str]) -> None:
        row = usage_row(put.data)
        tenant, user = read_scope(put.scope)
        day = datetime.fromtimestamp(put.at / 1000, self._clock.zone).date().isoformat()
        known = {"tenant": tenant, "user": user, "agent": row.agent, "day": day}
        known |= {LABEL + name: value for name, value in row.labels.items()}

        def total(model: str) -> _Sum:
            return sums.setdefault(tuple(model if name == "model" else known.get(name) for name in by), _Sum())

        asked = total(row.model)
        asked.requests += row.requests
        asked.runs += row.runs
        asked.calls += row.calls
        for model, spent in row.models.items():
            self._spend(total(model), model, spent)

    def _spend(self, total: _Sum, model: str, spent: Spent) -> None:
        total.spent.add(spent)
        if spent.cost:
            currency = spent.currency or self._currency(model) or UNKNOWN
            total.cost[currency] = total.cost.get(currency, 0.0) + spent.cost

    def _days(self, first: str | None, last: str | None) -> tuple[date, date]:
        end = _date("to", last) or datetime.fromtimestamp(self._clock.now() / 1000, self._clock.zone).date()
        begin = _date("from", first) or end - timedelta(days=DEFAULT_DAYS - 1)
        if not 0 <= (end - begin).days < MOST_DAYS:
            raise _wrong("from", f"from is not after to, and at most {MOST_DAYS:,} days before it")
        return begin, end

    def _at(self, day: date) -> int:
        return day_start(datetime(day.year, day.month, day.day, tzinfo=self._clock.zone), self._clock.zone)


def _date(field: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        found = date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        found = None
    if found is None:
        raise _wrong(field, f"{field} is a date such as 2026-11-30, not '{text[:80]}'")
    return found


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, ({"field": field, "message": message},))


def _view(total: _Sum) -> dict[str, Any]:
    spent = total.spent
    return {
        "requests": total.requests,
        "runs": total.runs,
        "modelCalls": spent.calls,
        "toolCalls": total.calls,
        "inputTokens": spent.input,
        "outputTokens": spent.output,
        "cachedTokens": spent.cached,
        "reasoningTokens": spent.reasoning,
        "cost": {currency: round(cost, 9) for currency, cost in sorted(total.cost.items())},
        "estimatedShare": round(spent.estimated / spent.tokens, 6) if spent.tokens else 0.0,
    }
