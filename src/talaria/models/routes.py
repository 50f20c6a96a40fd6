"""Routes: which provider answers for which model names, and how it is reached."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.models.profile import Profile


class Route(msgspec.Struct, frozen=True, gc=False):
    """A connection to a provider for all models whose name starts with `prefix`; "" is the fallback.

    Time limits are in seconds: `connect_timeout` to be connected, `first_token_timeout` from sending the request to
    the first token, `idle_timeout` between two reads after that. `retries` counts attempts after the first.
    """

    prefix: str
    base_url: str
    dialect: str = "openai"
    api_key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    connect_timeout: float = 5.0
    first_token_timeout: float = 60.0
    idle_timeout: float = 60.0
    retries: int = 2
    profile: Profile = Profile()

    @property
    def issuer(self) -> str:
        """Who answers: what a provider signs goes back to the same dialect at the same host only."""
        return f"{self.dialect}:{urlsplit(self.base_url).hostname or self.prefix}"

    def without_secrets(self, text: str) -> str:
        """Return a text of the provider's with this route's key masked, should it be in there."""
        return text.replace(self.api_key, "[masked]") if len(self.api_key) >= 6 else text

    def __repr__(self) -> str:
        return f"Route({self.prefix!r}, {self.dialect!r})"


def find_route(routes: Sequence[Route], model: str) -> Route:
    """Return the route with the longest prefix of the model's name.

    Raises:
        InvalidRequest: there is none; the message names the prefixes there are.
    """
    fitting = [route for route in routes if model.startswith(route.prefix)]
    if fitting:
        return max(fitting, key=lambda route: len(route.prefix))
    known = ", ".join(f"'{route.prefix}'" for route in routes) or "none at all"
    message = f"no route for the model '{model[:200]}'; names must start with one of the configured prefixes: {known}"
    raise InvalidRequest(message, ({"field": "modelName", "message": message},))
