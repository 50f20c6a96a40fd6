"""Routes of models, out of the settings."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from talaria.core.errors import ConfigurationError, InvalidRequest
from talaria.core.usage import Usage
from talaria.models.accounting import priced
from talaria.models.families import Profiles
from talaria.models.routes import Route, find_route
from talaria.runtime.settings import ModelSettings
from talaria.telemetry.entry_counts import OTHER, ModelLabels
from talaria.tools.nearest import hint, listed

REMEMBERED = 256
"""Names of models whose labels need not be looked for again."""


def make_routes(models: Sequence[ModelSettings]) -> list[Route]:
    """Return the configured routes.

    Raises:
        ConfigurationError: a capability is unknown or has a wrong value.
    """
    for at, each in enumerate(models):
        if any(other.prefix == each.prefix for other in models[:at]):
            raise ConfigurationError(f"models: two routes have the prefix '{each.prefix}'; one would never be asked")
        if not each.base_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"models[{at}].baseUrl: '{each.base_url}' is no http or https address")
        if each.mapping is not None and each.dialect != "mapped":
            raise ConfigurationError(f"models[{at}].mapping: only the dialect 'mapped' has one, not '{each.dialect}'")
        if each.mapping is None and each.dialect == "mapped":
            raise ConfigurationError(f"models[{at}].mapping: the dialect 'mapped' needs one: call or stream, and text")
    check_models(models, {f"models[{at}].fallback": name for at, each in enumerate(models) for name in each.fallback})
    return [_route(each) for each in models]


def model_labels(routes: Sequence[Route]) -> Callable[[str], ModelLabels]:
    """Return what tells under which labels a model is counted; it remembers."""

    @lru_cache(REMEMBERED)
    def labels(model: str) -> ModelLabels:
        try:
            route = find_route(routes, model)
        except InvalidRequest:
            return ModelLabels(OTHER)
        price = route.profile_of(model).price
        return ModelLabels(route.prefix or "*", "" if price is None else price.currency)

    return labels


def pricing(routes: Sequence[Route]) -> Callable[[Usage, str], Usage]:
    """Return what adds to usage what it costs with a model, as far as prices are known."""

    def priced_as(usage: Usage, model: str) -> Usage:
        try:
            return priced(usage, find_route(routes, model).profile_of(model).price)
        except InvalidRequest:
            return usage

    return priced_as


def can_call(routes: Sequence[Route], model: str) -> bool:
    """Whether a model can call tools, as far as is known."""
    try:
        return find_route(routes, model).profile_of(model).tools
    except InvalidRequest:
        return True


def check_models(models: Sequence[ModelSettings], named: Mapping[str, str]) -> None:
    """Check that the model names in a configuration (by where they stand) have a route.

    Raises:
        ConfigurationError: one has none.
    """
    for where, name in named.items():
        if name and (lack := lack_of_route(models, name)):
            raise ConfigurationError(f"{where}: {lack}")


def lack_of_route(models: Sequence[ModelSettings], name: str) -> str:
    """Say that a model has no route; "" where it has one, or nothing is configured that could have one."""
    prefixes = [each.prefix for each in models]
    if not prefixes or any(name.startswith(prefix) for prefix in prefixes):
        return ""
    return f"no route for model '{name[:80]}'; there are {listed(prefixes)}{hint(name, prefixes)}"


def _route(model: ModelSettings) -> Route:
    price = model.price.model_dump() if model.price is not None else None
    thinking = model.thinking.model_dump() if model.thinking is not None else None
    lacks = {} if model.mapping is None else model.mapping.capabilities()
    return Route(
        prefix=model.prefix,
        base_url=model.base_url.rstrip("/"),
        dialect=model.dialect,
        api_keys=tuple(key for key in (model.api_key, *model.api_keys) if key),
        headers=tuple(model.headers.items()),
        connect_timeout=model.connect_timeout,
        first_token_timeout=model.first_token_timeout,
        idle_timeout=model.idle_timeout,
        retries=model.retries,
        rpm=model.rpm,
        tpm=model.tpm,
        fallback=tuple(model.fallback),
        profile_of=Profiles(model.dialect, lacks | model.capabilities, price, thinking).of,
        mapping=model.mapping,
    )
