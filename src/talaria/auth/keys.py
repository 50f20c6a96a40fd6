"""Logins by key: everybody has a key of their own and sends it as `Authorization: Bearer …`."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from hmac import compare_digest

from talaria.auth.bearer import bearer
from talaria.core.errors import Unauthenticated
from talaria.core.principal import Principal

HASHED = "sha256:"


class KeyAuthenticator:
    """See ports.authenticator. Only digests are kept, so no key can show in a log or a dump."""

    def __init__(self, principals: Sequence[tuple[str, Principal]]) -> None:
        self._known = [(digest(key), principal) for key, principal in principals]

    async def authenticate(self, headers: Mapping[str, str]) -> Principal:
        """See the port."""
        given = hashlib.sha256(bearer(headers, "key").encode()).digest()
        found = [principal for known, principal in self._known if compare_digest(known, given)]  # always all of them
        if not found:
            raise Unauthenticated("this key is not known here")
        return found[0]


def digest(key: str) -> bytes:
    """The SHA-256 of a key, which may be given as `sha256:` and its hexadecimal digits.

    Raises:
        ValueError: the digits are no SHA-256.
    """
    if not key.startswith(HASHED):
        return hashlib.sha256(key.encode()).digest()
    digits = key.removeprefix(HASHED)
    if not re.fullmatch("[0-9a-fA-F]{64}", digits):
        raise ValueError("after 'sha256:' come 64 hexadecimal digits")
    return bytes.fromhex(digits)
