"""Who a token is of: its claims, as a principal. What is not exactly as expected is refused, never mended."""

import math
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import UNSET

from talaria.core.errors import Unauthenticated
from talaria.core.principal import Principal
from talaria.core.text import valid_text

LONGEST = 256
"""Characters of a tenant, a user or a role."""
MOST_ROLES = 1_000


class Claims(msgspec.Struct, frozen=True):
    """Names of claims; dots lead into objects (`realm_access.roles`), unless a claim has just this name.

    `tenant` None: everybody is of `default_tenant`, which otherwise is for tokens without the claim.
    """

    user: str = "sub"
    tenant: str | None = None
    default_tenant: str | None = None
    roles: str | None = None


def principal(claims: Mapping[str, Any], names: Claims) -> Principal:
    """Return who it is.

    Raises:
        Unauthenticated: a claim is missing, or not such that it can name somebody.
    """
    tenant = UNSET if names.tenant is None else find(claims, names.tenant)
    if tenant is UNSET and names.default_tenant is not None:
        tenant = names.default_tenant
    roles = () if names.roles is None else _roles(find(claims, names.roles), names.roles)
    return Principal(_name(tenant, names.tenant or "tenant"), _name(find(claims, names.user), names.user), roles)


def check_times(claims: Mapping[str, Any], now: float, leeway: float) -> float:
    """Return until when a token is good; all in seconds since 1970.

    Raises:
        Unauthenticated: it is over, or its time has not come (RFC 7519, 4.1.4 to 4.1.6).
    """
    until = _time(claims, "exp")
    if now >= until + leeway:
        raise Unauthenticated("this token has expired; get a new one")
    for name in ("nbf", "iat"):
        if name in claims and _time(claims, name) > now + leeway:
            raise Unauthenticated(f"this token is of the future ({name}); compare the clocks, or raise auth.leeway")
    return until + leeway


def find(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of this name, or at the end of this path; UNSET if there is none."""
    if path in claims:
        return claims[path]
    value: Any = claims
    for part in path.split("."):
        value = cast("Mapping[str, Any]", value).get(part, UNSET) if isinstance(value, Mapping) else UNSET
    return value


def _name(value: Any, claim: str) -> str:
    if value is UNSET:
        raise Unauthenticated(f"this token lacks the claim '{claim}', which auth.claims names")
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST or not _is_clean(value):
        raise Unauthenticated(f"the token's claim '{claim}' must be a text of 1 to {LONGEST} characters")
    return value


def _roles(value: Any, claim: str) -> tuple[str, ...]:
    listed: Any = value.split() if isinstance(value, str) else [] if value is UNSET else value
    if not isinstance(listed, list) or len(cast("list[Any]", listed)) > MOST_ROLES:
        raise Unauthenticated(f"the token's claim '{claim}' must be a list of roles, or roles with spaces between")
    return tuple(dict.fromkeys(_name(each, claim) for each in cast("list[Any]", listed)))


def _is_clean(text: str) -> bool:
    """Whether every store can keep it as it is, so that two users cannot become one."""
    return valid_text(text) == text


def _time(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unauthenticated(f"the token's claim '{name}' must be a time, in seconds since 1970")
    return value
