"""The quotas of a deployment: room is taken before something is done, and settled by what it took."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import structlog

from talaria.core.errors import QuotaExceeded
from talaria.core.usage import Usage
from talaria.journal.spending import UsageRow
from talaria.ports.counters import Counters, Full, Take
from talaria.ports.model import ModelRequest
from talaria.ports.profile import Profile
from talaria.quotas.prompt_size import request_tokens
from talaria.quotas.refusal import UNREADABLE, no_price, no_room
from talaria.quotas.rules import Limit, Rules, What
from talaria.quotas.windows import Windows

Profiles = Callable[[str], Sequence[Profile]]
"""The profiles of a model and of those that may answer in its place; none where nothing is known."""
_log = structlog.get_logger("talaria.quotas")


class Hold:
    """Room that was taken. Until it is settled it counts as used."""

    def __init__(self, counters: Counters, taken: Sequence[tuple[Limit, Take]] = ()) -> None:
        self._counters = counters
        self._taken = taken

    async def settle(self, **used: float) -> None:
        """Put what was used in the place of what was taken; of what is not named, all that was taken stays taken."""
        changes = [
            msgspec.structs.replace(take, amount=used[limit.budget.what] - take.amount)
            for limit, take in self._taken
            if limit.budget.what in used
        ]
        self._taken = [each for each in self._taken if each[0].budget.what not in used]
        if changes:
            await self._counters.add(changes)

    async def settle_model(self, usage: Usage) -> None:
        """Settle a model call."""
        await self.settle(tokens=usage.input_tokens + usage.output_tokens, cost=usage.cost or 0.0)

    async def give_back(self) -> None:
        """Nothing was done."""
        await self.settle(requests=0, tokens=0, cost=0, calls=0)


class Quotas:
    """All quotas of a deployment.

    Args:
        rules: what holds for whom.
        counters: where it is counted.
        windows: the windows that are open.
        profiles: prices and limits of models.
        answer_tokens: what a model call may answer at most where nobody said.
        on_refusal: told of every quota that had no room.
    """

    def __init__(
        self,
        rules: Rules,
        counters: Counters,
        windows: Windows,
        *,
        profiles: Profiles,
        answer_tokens: int,
        on_refusal: Callable[[Limit], None] = lambda _: None,
    ) -> None:
        self.rules = rules
        self.counters = counters
        self.windows = windows
        self.profiles = profiles
        self.answer_tokens = answer_tokens
        self.on_refusal = on_refusal

    def of(self, tenant: str, agent: str, user: str) -> "RunQuota":
        """What holds for a run."""
        return RunQuota(self, self.rules.holding(tenant, agent, user))

    async def take(self, amounts: Iterable[tuple[Limit, float]]) -> Hold:
        """Take all of it, or nothing.

        Raises:
            QuotaExceeded: one has no room, or the counters do not answer.
        """
        taken = [(limit, self._take(limit, amount)) for limit, amount in amounts]
        if not taken:
            return Hold(self.counters)
        try:
            full = await self.counters.take([take for _, take in taken])
        except Exception as error:
            _log.error("quota_counters_failed", exc_info=error)
            raise QuotaExceeded(UNREADABLE) from error
        if full is not None:
            raise self._refusal(*taken[full.at], full)
        return Hold(self.counters, taken)

    async def count(self, tenant: str, user: str, at: int, row: UsageRow) -> None:
        """Count what is on record from before this process began."""
        held = [*self.rules.holding(tenant, row.agent, user)]
        used: dict[What, float] = {
            "requests": row.requests,
            "tokens": row.tokens,
            "cost": row.cost,
            "calls": row.calls,
        }
        amounts = [(limit, used[limit.budget.what]) for limit in held]
        amounts += [(limit, count) for tool, count in row.tools.items() for limit in self.rules.of_tool(tool)]
        now = [self._take(limit, amount) for limit, amount in amounts if amount]
        if now := [take for take in now if take.window <= at]:
            await self.counters.add(now)

    def _take(self, limit: Limit, amount: float) -> Take:
        window, ends = self.windows.now(limit.budget.per)
        return Take(limit.key, window, ends, amount, limit.budget.most)

    def _refusal(self, limit: Limit, take: Take, full: Full) -> QuotaExceeded:
        self.on_refusal(limit)
        return no_room(limit, take.amount, full.holds, (take.ends - self.windows.time()) / 1000)


class RunQuota:
    """What holds for one run: found once, so that a call looks up nothing but its tool."""

    def __init__(self, quotas: Quotas, limits: Sequence[Limit]) -> None:
        self._quotas = quotas
        self._requests = [limit for limit in limits if limit.budget.what == "requests"]
        self._calls = [limit for limit in limits if limit.budget.what == "calls"]
        self._models = [limit for limit in limits if limit.budget.what in ("tokens", "cost")]
        self._money = next((limit for limit in self._models if limit.budget.what == "cost"), None)
        self._tools: dict[str, list[Limit]] = {}

    async def admit(self) -> Hold:
        """Take room for a request. One whose first model call could not have a single token is refused at once.

        Raises:
            QuotaExceeded: there is no room.
        """
        wanted = [(limit, 1.0) for limit in self._requests]
        wanted += [(limit, 1.0 if limit.budget.what == "tokens" else 1e-9) for limit in self._models]
        hold = await self._quotas.take(wanted)
        await hold.settle(tokens=0, cost=0)
        return hold

    def capped(self, request: ModelRequest) -> ModelRequest:
        """The request with an end to its answer: what is not bounded cannot be taken room for."""
        if not self._models or request.max_tokens is not None:
            return request
        most = [each.max_output for each in self._quotas.profiles(request.model) if each.max_output]
        return msgspec.structs.replace(request, max_tokens=min([self._quotas.answer_tokens, *most]))

    async def reserve(self, request: ModelRequest) -> Hold:
        """Take room for all that a model call may take; `request` is capped.

        Raises:
            QuotaExceeded: there is no room.
        """
        if not self._models:
            return Hold(self._quotas.counters)
        asked, answered = request_tokens(request), request.max_tokens or 0
        amounts: Mapping[str, float] = {"tokens": asked + answered, "cost": self._cost(request.model, asked, answered)}
        return await self._quotas.take((limit, amounts[limit.budget.what]) for limit in self._models)

    async def take_call(self, tool: str) -> Hold:
        """Take room for a tool call.

        Raises:
            QuotaExceeded: there is no room.
        """
        limits = self._tools.get(tool)
        if limits is None:
            limits = self._tools[tool] = [*self._calls, *self._quotas.rules.of_tool(tool)]
        return await self._quotas.take((limit, 1.0) for limit in limits)

    def _cost(self, model: str, asked: int, answered: int) -> float:
        """What the dearest of those that may answer would take."""
        if self._money is None:
            return 0.0
        prices = [each.price for each in self._quotas.profiles(model)]
        known = [price for price in prices if price is not None]
        if not prices or len(known) < len(prices):
            self._quotas.on_refusal(self._money)
            raise no_price(self._money, model)
        return max(asked * max(p.input, p.cache_write or 0.0) + answered * p.output for p in known) / 1_000_000
