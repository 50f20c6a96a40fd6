"""The rules: which quotas hold for a tenant, an agent, a user and a tool. Made once, from the configuration."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from talaria.core.ids import scope_of
from talaria.quotas.windows import Per

What = Literal["requests", "tokens", "cost", "calls"]
ALL = "*"
"""The entry for each one that has none of its own."""


class Budget(msgspec.Struct, frozen=True, gc=False):
    """So much of something in every window; `field` is what the configuration calls it."""

    what: What
    per: Per
    most: float
    field: str


Budgets = tuple[Budget, ...]


class Limit(msgspec.Struct, frozen=True, gc=False):
    """A quota as it holds for somebody. `key` is their counter's, `level` tenants, agents, users or tools."""

    name: str
    level: str
    key: str
    budget: Budget


class Rules(msgspec.Struct, frozen=True):
    """Budgets by name. `tools` has the entries that each tool falls under, by the tool's name.

    A counter belongs to a tenant, to a user of a tenant, to an agent, and to an entry of `tools`: the tools of a group
    or a pattern share one.
    """

    tenants: Mapping[str, Budgets]
    agents: Mapping[str, Budgets]
    users: Mapping[str, Budgets]
    tools: Mapping[str, Mapping[str, Budgets]]
    any_tool: Budgets = ()

    def holding(self, tenant: str, agent: str, user: str) -> tuple[Limit, ...]:
        """What holds for everything that an agent does for a user: tenant first, then agent, then user."""
        return (
            *_limits("tenants", tenant, self.tenants, tenant),
            *_limits("agents", agent, self.agents, agent),
            *_limits("users", user, self.users, scope_of(tenant, user)),
        )

    def of_tool(self, name: str) -> tuple[Limit, ...]:
        """What holds for the calls of a tool."""
        entries = self.tools.get(name)
        if entries is None:
            return tuple(_made("tools", ALL, name, self.any_tool))
        return tuple(limit for entry, budgets in entries.items() for limit in _made("tools", entry, entry, budgets))


def _limits(level: str, name: str, entries: Mapping[str, Budgets], holder: str) -> Iterable[Limit]:
    entry = name if name in entries else ALL
    return _made(level, entry, holder, entries.get(entry, ()))


def _made(level: str, entry: str, holder: str, budgets: Budgets) -> Iterable[Limit]:
    return (Limit(f"{level}.{entry}.{each.field}", level, f"{level}\n{holder}\n{each.field}", each) for each in budgets)
