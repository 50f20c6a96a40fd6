"""The login that the settings ask for."""

from collections.abc import Callable

from talaria.auth.everybody import Everybody
from talaria.auth.keys import KeyAuthenticator
from talaria.core.principal import Principal
from talaria.ports.authenticator import Authenticator
from talaria.runtime.auth_settings import AuthSettings


def make_authenticator(settings: AuthSettings, now: Callable[[], int]) -> Authenticator:
    """Return what lets requests in; `now` tells ms."""
    if settings.kind == "none":
        return Everybody()
    if settings.kind == "keys":
        return KeyAuthenticator(
            [(each.key, Principal(each.tenant, each.user, tuple(each.roles))) for each in settings.keys]
        )
    return _by_token(settings, now)


def _by_token(settings: AuthSettings, now: Callable[[], int]) -> Authenticator:
    from talaria.auth.claims import Claims  # noqa: PLC0415 - only this login needs what it imports
    from talaria.auth.key_set import KeySet  # noqa: PLC0415
    from talaria.auth.provider import Provider  # noqa: PLC0415
    from talaria.auth.tokens import Expected, TokenAuthenticator  # noqa: PLC0415

    keys = KeySet(Provider(settings.issuer, settings.jwks_url).keys, settings.algorithms, now)
    claims = Claims(**settings.claims.model_dump())
    expected = Expected(settings.issuer, settings.audiences, settings.algorithms, settings.leeway, claims)
    return TokenAuthenticator(keys, expected, now)
