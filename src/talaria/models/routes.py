"""Routes: which provider answers for which model names, and how it is reached."""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.core.redaction import Redactor
from talaria.models.families import Profiles
from talaria.models.mapped.mapping import ProtocolMapping
from talaria.ports.model import Connection
from talaria.ports.profile import Profile


class Route(msgspec.Struct, frozen=True, gc=False):
    """A connection to a provider for all models whose name starts with `prefix`; "" is the fallback.

    Time limits are in seconds: `connect_timeout` to be connected, `first_token_timeout` from sending the request to
    the first token, `idle_timeout` between two reads after that. `retries` counts attempts after the first.
    `api_keys` are used in turn. `rpm`, `tpm`: requests and tokens a minute that its provider grants, None for any.
    `fallback`: the models that are asked instead, in order, when this one does not answer.
    `mapping` is for the dialect "mapped": the protocol.
    """

    prefix: str
    base_url: str
    dialect: str = "openai"
    api_keys: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    connect_timeout: float = 5.0
    first_token_timeout: float = 60.0
    idle_timeout: float = 60.0
    retries: int = 2
    rpm: int | None = None
    tpm: int | None = None
    fallback: tuple[str, ...] = ()
    profile_of: Callable[[str], Profile] = Profiles().of
    mapping: ProtocolMapping | None = None

    def connection(self, model: str, api_key: str = "") -> Connection:
        """The connection to one of its models, with one of its keys."""
        host = urlsplit(self.base_url).hostname or self.prefix
        issuer = f"{self.dialect}:{host}:{model}"
        return Connection(self.base_url, model, issuer, api_key, self.headers, self.profile_of(model))

    def without_secrets(self, text: str) -> str:
        """Return a text of the provider's with this route's keys masked, should they be in there.

        Of a header its value is one, and what follows the last space in it: "Bearer KEY".
        """
        values = [value for _, value in self.headers]
        known = (*self.api_keys, *values, *(value.rpartition(" ")[2] for value in values))
        return Redactor({value: value for value in known}).mask(text)

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
    known = ", ".join(f"'{route.prefix}'" for route in routes)
    hint = f"names must start with one of the configured prefixes: {known}" if known else "there are none; add 'models'"
    message = f"no route for the model '{model[:200]}'; {hint}"
    raise InvalidRequest(message, ({"field": "modelName", "message": message},))
