"""The login that the settings ask for."""

from talaria.auth.everybody import Everybody
from talaria.auth.keys import KeyAuthenticator
from talaria.core.principal import Principal
from talaria.ports.authenticator import Authenticator
from talaria.runtime.settings import AuthSettings


def make_authenticator(settings: AuthSettings) -> Authenticator:
    """Return what lets requests in."""
    if settings.kind == "none":
        return Everybody()
    return KeyAuthenticator(
        [(each.key, Principal(each.tenant, each.user, tuple(each.roles))) for each in settings.keys]
    )
