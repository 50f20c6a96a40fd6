"""A provider at work: its route, its dialect, and what is shared by all calls to it: keys, pace, whether it rests."""

from functools import lru_cache

from talaria.models.keys import Keys
from talaria.models.routes import Route
from talaria.models.turnstile import Turnstile
from talaria.ports.clock import Clock
from talaria.ports.model import Connection, Dialect

REST = 30_000
"""ms for which a provider whose fallback was used is not asked first."""
KEY_REST = 300_000
"""ms for which a key that was refused is left alone."""
BUSY_REST = 10_000
"""ms for which a key that was used too often is left alone, where the provider does not say how long."""
REMEMBERED = 256
"""Connections, one a model and key, that need not be made again."""


class Provider:
    """One route, while the gateway is open."""

    def __init__(self, route: Route, dialect: Dialect, clock: Clock) -> None:
        self.route = route
        self.dialect = dialect
        self.keys = Keys(route.api_keys)
        self.turnstile = Turnstile(route.rpm, route.tpm, clock)
        self.rests_until = 0
        self._connection = lru_cache(REMEMBERED)(route.connection)

    def connection(self, model: str, key: str) -> Connection:
        """Return the connection to a model with a key."""
        return self._connection(model, key)
