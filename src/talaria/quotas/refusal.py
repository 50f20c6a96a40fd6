"""What is said when a quota has no room: what it is, what is left of it, and when there is room again."""

import math

from talaria.core.errors import QuotaExceeded
from talaria.quotas.rules import Limit

UNREADABLE = "the counters of the quotas cannot be read, and nothing goes on without them; try again later"


def no_room(limit: Limit, amount: float, holds: float, wait: float) -> QuotaExceeded:
    """The refusal of an amount. `wait`: seconds until the quota's next window."""
    budget = limit.budget
    remaining = max(0.0, round(budget.most - holds, 6))
    allowed = f"{budget.most:,g} {_words(limit)} {'an' if budget.per == 'hour' else 'a'} {budget.per}"
    if budget.what in ("tokens", "cost"):
        why = f"leaves {remaining:,g}, and the next model call may take {amount:,g}"
        if amount > budget.most:
            why += (
                ", more than there ever is: send less, or ask for fewer maxTokens; quotas.answerTokens is the default"
            )
    else:
        why = "is used up"
    seconds = max(1, math.ceil(wait))
    return QuotaExceeded(
        f"the quota {limit.name} ({allowed}) {why}; there is room again in {_time(seconds)}",
        quota=limit.name,
        remaining=remaining,
        retry_after=seconds,
    )


def no_price(limit: Limit, model: str) -> QuotaExceeded:
    """The refusal of a model whose cost nobody knows."""
    return QuotaExceeded(
        f"the quota {limit.name} counts money, and no price is known for the model '{model[:80]}'; set models[].price",
        quota=limit.name,
    )


def _words(limit: Limit) -> str:
    return {"cost": "of cost", "calls": "tool calls"}.get(limit.budget.what, limit.budget.what)


def _time(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{math.ceil(seconds / 60)} min" if seconds < 7200 else f"{math.ceil(seconds / 3600)} h"
