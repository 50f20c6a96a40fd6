"""Logins by token: a JWT that an identity provider signed, sent as `Authorization: Bearer …`."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jwt
import msgspec

from talaria.auth.bearer import bearer
from talaria.auth.claims import Claims, check_times, principal
from talaria.auth.key_set import KeySet
from talaria.core.errors import Unauthenticated
from talaria.core.principal import Principal

LONGEST = 16_384
"""Characters of a token."""
KEPT = 10_000
"""How many tokens that were good are remembered."""
TYPES = ("jwt", "at+jwt", "application/at+jwt")
"""What a token may say that it is: other tokens of the same provider are for other things (RFC 8725, 3.11)."""

_OPTIONS: Any = {
    "require": ["exp", "iss", "aud"],
    "verify_exp": False,  # times are checked in claims.py, by the clock of the runtime
    "verify_nbf": False,
    "verify_iat": False,
    "enforce_minimum_key_length": True,
}


class Expected(msgspec.Struct, frozen=True):
    """What a token must be: from `issuer`, for one of `audience`, signed with one of `algorithms`. Times in seconds."""

    issuer: str
    audience: Sequence[str]
    algorithms: Sequence[str]
    leeway: float
    claims: Claims


class TokenAuthenticator:
    """See ports.authenticator. `now` tells ms.

    The token chooses among the provider's keys by `kid`, and in no other way: keys and addresses in it do not count.
    """

    def __init__(self, keys: KeySet, expected: Expected, now: Callable[[], int]) -> None:
        self._keys = keys
        self._expected = expected
        self._now = now
        self._good: dict[bytes, tuple[Principal, float]] = {}
        self._version = 0

    async def authenticate(self, headers: Mapping[str, str]) -> Principal:
        """See the port.

        Raises:
            Overloaded: the provider's keys cannot be had.
        """
        token = bearer(headers, "token")
        if len(token) > LONGEST:
            raise Unauthenticated(f"this token is longer than {LONGEST} characters")
        await self._keys.ready()
        if self._version != self._keys.version:
            self._good.clear()
            self._version = self._keys.version
        digest = hashlib.sha256(token.encode()).digest()
        known = self._good.get(digest)
        if known is None or self._seconds() >= known[1]:
            known = self._good[digest] = await self._check(token)
            if len(self._good) > KEPT:
                del self._good[next(iter(self._good))]
        return known[0]

    async def _check(self, token: str) -> tuple[Principal, float]:
        kid, algorithm = self._head(token)
        key = await self._keys.find(kid, algorithm)
        if key is None:
            raise Unauthenticated("this token is signed with a key that its issuer does not have")
        expected = self._expected
        try:
            claims = jwt.decode(
                token, key, [algorithm], _OPTIONS, audience=list(expected.audience), issuer=expected.issuer
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(_reason(error)) from None
        until = check_times(claims, self._seconds(), expected.leeway)
        return principal(claims, expected.claims), until

    def _head(self, token: str) -> tuple[str | None, str]:
        """The key and the algorithm that the token names; nothing is believed of it yet."""
        try:
            head = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, UnicodeError):
            raise Unauthenticated("this is no token: three parts with dots between are") from None
        algorithm: Any = head.get("alg")
        if algorithm not in self._expected.algorithms:
            raise Unauthenticated("this token is not signed in a way that is taken here (auth.algorithms)")
        if str(head.get("typ", "JWT")).lower() not in TYPES:
            raise Unauthenticated("this token is not for logins: its type is another one")
        return head.get("kid"), algorithm

    def _seconds(self) -> float:
        return self._now() / 1000


def _reason(error: jwt.PyJWTError) -> str:
    match error:
        case jwt.InvalidAudienceError():
            return "this token is for somebody else: its audience is not auth.audience"
        case jwt.InvalidIssuerError():
            return "this token is from somebody else: its issuer is not auth.issuer"
        case jwt.MissingRequiredClaimError():
            return f"this token lacks the claim '{error.claim}'"
        case _:
            return "this token's signature is not good, or what it says cannot be read"
