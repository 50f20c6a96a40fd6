"""Trials of all configured models: which ones stand for each route, and asking them all."""

import asyncio
import re
from collections.abc import Sequence

from talaria.core.errors import ConfigurationError
from talaria.models.routes import Route, find_route
from talaria.models.trial import Trial, try_model
from talaria.ports.model import Transport
from talaria.runtime.build import make_transport
from talaria.runtime.offers import named_models
from talaria.runtime.plan import Plan, make_plan
from talaria.runtime.settings import Settings

_WHOLE = re.compile(r".*\d.*[A-Za-z0-9]|.*\d")


async def try_models(settings: Settings, names: Sequence[str] = ()) -> list[Trial]:
    """Try these models, else all that the configuration names, at least one a route.

    Raises:
        ConfigurationError: the configuration is wrong, or has no models.
        InvalidRequest: a name has no route.
    """
    planned = make_plan(settings, None, None, (), (), ())
    if not planned.routes:
        raise ConfigurationError("models: there is no route to try; add one")
    asked = [(find_route(planned.routes, name), name) for name in names] or _pairs(planned)
    transport = make_transport()
    try:
        return list(await asyncio.gather(*(_try(route, name, planned, transport) for route, name in asked)))
    finally:
        await transport.close()


async def _try(route: Route, name: str, planned: Plan, transport: Transport) -> Trial:
    if name:
        return await try_model(route, name, transport, planned.clock)
    note = f"no configured name begins with '{route.prefix}'; name a model: --model {route.prefix}…"
    return Trial(route.prefix, "?", notes=[note])


def _pairs(planned: Plan) -> list[tuple[Route, str]]:
    """Each route with the models that the configuration names for it, or its prefix where that is a whole name."""
    named = named_models(planned.settings, planned.catalog)
    by_route = [
        (route, [name for name in named if find_route(planned.routes, name) is route]) for route in planned.routes
    ]
    return [(route, name) for route, names in by_route for name in names or [_whole(route.prefix)]]


def _whole(prefix: str) -> str:
    """The prefix, where it looks like the name of a model: it has a number and does not end in the middle."""
    return prefix if _WHOLE.fullmatch(prefix) else ""
