"""The login: who a request comes from."""

from collections.abc import Mapping
from typing import Protocol

from talaria.core.principal import Principal


class Authenticator(Protocol):
    """Reads the credential of a request."""

    async def authenticate(self, headers: Mapping[str, str]) -> Principal:
        """Return who asks. Names of `headers` are looked up in lower case.

        Raises:
            Unauthenticated: there is no credential, or it is not a good one.
        """
        ...
