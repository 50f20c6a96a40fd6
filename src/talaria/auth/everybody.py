"""No login: everybody is let in, and sees what belongs to anybody. For loopback only."""

from collections.abc import Mapping

from talaria.core.principal import Principal


class Everybody:
    """See ports.authenticator."""

    async def authenticate(self, headers: Mapping[str, str]) -> Principal:
        """See the port."""
        del headers
        return Principal(everyone=True)
