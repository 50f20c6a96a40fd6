"""What a prompt was written as by a dialect: kept in the prompt's cache, so that each message is encoded once."""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from talaria.ports.model import Connection, ModelRequest, Prompt
from talaria.ports.profile import Profile

_NOBODY = "nobody"


class Encoded(Protocol):
    """A prompt as one dialect writes it."""

    def catch_up(self, prompt: Prompt) -> None:
        """Encode the messages that are new since the last time."""
        ...


E = TypeVar("E", bound=Encoded)


def encoded(request: ModelRequest, connection: Connection, make: Callable[[Prompt, str, Profile], E]) -> E:
    """Return a request's prompt as `make` (called with the prompt, an issuer and a profile) writes it, up to date.

    Where reasoning does not go back, the issuer is nobody, so that none of it is its own.
    """
    issuer = connection.issuer if request.reasoning_back else _NOBODY
    prompt, key = request.prompt, (make, issuer, connection.profile)
    kept = cast("E | None", prompt.cache.get(key))
    if kept is None:
        kept = prompt.cache[key] = make(prompt, issuer, connection.profile)
    kept.catch_up(prompt)
    return kept
