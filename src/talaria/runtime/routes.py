"""Routes of models, out of the settings."""

from collections.abc import Sequence

from talaria.models.profile import Profile
from talaria.models.routes import Route
from talaria.runtime.settings import ModelSettings


def make_routes(models: Sequence[ModelSettings]) -> list[Route]:
    """Return the configured routes.

    Raises:
        ConfigurationError: a capability is unknown or has a wrong value.
    """
    return [_route(each) for each in models]


def _route(model: ModelSettings) -> Route:
    price = model.price.model_dump() if model.price is not None else None
    return Route(
        prefix=model.prefix,
        base_url=model.base_url.rstrip("/"),
        dialect=model.dialect,
        api_key=model.api_key,
        headers=tuple(model.headers.items()),
        connect_timeout=model.connect_timeout,
        first_token_timeout=model.first_token_timeout,
        idle_timeout=model.idle_timeout,
        retries=model.retries,
        profile=Profile().override(model.capabilities, price),
    )
