"""The rules of the quotas, out of the settings: every name in them must be that of something there is."""

from collections.abc import Mapping, Sequence
from typing import get_args

from talaria.core.errors import ConfigurationError
from talaria.policy.selection import Subject, select
from talaria.quotas.rules import ALL, Budget, Budgets, Rules, What
from talaria.quotas.windows import Per
from talaria.runtime.catalog import DEFAULT_AGENT, Catalog
from talaria.runtime.quota_settings import CallBudget, QuotaSettings
from talaria.runtime.selections import check_selection
from talaria.tools.nearest import suggestion


def make_rules(settings: QuotaSettings, catalog: Catalog) -> Rules | None:
    """Return the rules; None where there is no quota.

    Raises:
        ConfigurationError: an agent or a tool that is named is not there.
    """
    _check_agents(settings, catalog)
    entries = _budgets(settings.tools)
    tools = _tools(entries, catalog.registry.tools)
    rules = Rules(
        _budgets(settings.tenants),
        _budgets(settings.agents),
        _budgets(settings.users),
        tools,
        entries.get(ALL, ()),
    )
    return rules if any((rules.tenants, rules.agents, rules.users, entries)) else None


def _budgets(entries: Mapping[str, CallBudget]) -> dict[str, Budgets]:
    found = {name: tuple(_budget(each)) for name, each in entries.items()}
    return {name: budgets for name, budgets in found.items() if budgets or name != ALL}


def _budget(settings: CallBudget) -> list[Budget]:
    fields = type(settings).model_fields
    return [
        Budget(what, per, most, fields[field].alias or field)
        for what in get_args(What)
        for per in get_args(Per)
        if (most := getattr(settings, field := f"{what}_per_{per}", None)) is not None
    ]


def _check_agents(settings: QuotaSettings, catalog: Catalog) -> None:
    names = [agent.name for agent in catalog.agents] or [DEFAULT_AGENT]
    for name in settings.agents:
        if name not in (ALL, DEFAULT_AGENT, *names):
            raise ConfigurationError(f"quotas.agents: no agent named '{name}'{suggestion(name, names)}")


def _tools(entries: Mapping[str, Budgets], tools: Sequence[Subject]) -> dict[str, dict[str, Budgets]]:
    """The entries that hold for each tool: "*" only where no other does."""
    found: dict[str, dict[str, Budgets]] = {}
    for entry, budgets in entries.items():
        if entry == ALL:
            continue
        chosen = select([entry])
        check_selection("quotas.tools", chosen, tools)
        for tool in tools:
            if tool in chosen:
                found.setdefault(tool.name, {})[entry] = budgets
    return found
