"""What this deployment offers: models, tools and agents, as far as a principal may use them."""

from collections.abc import Iterable
from typing import Any

from talaria.core.principal import Principal
from talaria.runtime.catalog import Catalog, needs_sandbox
from talaria.runtime.kit import Kit
from talaria.runtime.settings import Settings
from talaria.tools.declaration import Tool


def named_models(settings: Settings, catalog: Catalog) -> list[str]:
    """The models that the configuration names, the default one first; a route takes others of its prefix too."""
    names = [settings.default_model, *(agent.model for agent in catalog.agents)]
    return [name for name in dict.fromkeys([*names, *_fallbacks(settings)]) if name]


def models(kit: Kit) -> dict[str, Any]:
    """The named models, and the prefixes that have a route."""
    names = named_models(kit.settings, kit.catalog)
    prefixes = [each.prefix for each in kit.settings.models]
    default = {"default": kit.settings.default_model} if kit.settings.default_model else {}
    return {"models": [{"name": name} for name in names], "prefixes": prefixes, **default}


def tools(kit: Kit, principal: Principal, *, sandboxes: bool) -> dict[str, Any]:
    """The tools that this principal may call; without `sandboxes` none that need one."""
    there = [each for each in kit.catalog.registry.tools if sandboxes or not needs_sandbox(each)]
    offered = [each for each in there if kit.policy.may_call(each, principal)]
    return {"tools": [_tool(each, kit.policy.may_ask(each, principal)) for each in offered]}


def agents(kit: Kit, principal: Principal) -> dict[str, Any]:
    """The agents that this principal may use, the default one first."""
    every = [each for each in kit.catalog.agents or (kit.catalog.agent(None),) if each.admits(principal)]
    return {"agents": [{"name": each.name} | ({"modelName": each.model} if each.model else {}) for each in every]}


def _fallbacks(settings: Settings) -> Iterable[str]:
    return (name for route in settings.models for name in route.fallback)


def _tool(tool: Tool[..., Any], required: bool) -> dict[str, Any]:
    view: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.group:
        view["group"] = tool.group
    return view | ({"approval": True} if required or tool.approval else {})
