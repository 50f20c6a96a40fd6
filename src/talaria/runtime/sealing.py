"""Sealing: the secrets of a run as bytes that only the holder of `secrets.key` can read."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VERSION = b"\x01"
NONCE = 12
SALT = b"talaria secrets 1"
"""The same everywhere: a key must be found again by the next process, and is a secret of its own, not a password."""
_decode = msgspec.json.Decoder(dict[str, str]).decode


class Seals:
    """AES-256-GCM under keys that scrypt (RFC 7914) makes of the configured ones; the first seals, all open.

    `run` and `tenant` are sealed in: what belongs to another run does not open.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._ciphers = [_cipher(key) for key in keys]

    def seal(self, secrets: Mapping[str, str], run: str, tenant: str) -> bytes | None:
        """Return the sealed secrets, or None where there is no key."""
        if not self._ciphers:
            return None
        nonce, said = os.urandom(NONCE), msgspec.json.encode(dict(secrets))
        return VERSION + nonce + self._ciphers[0].encrypt(nonce, said, _about(run, tenant))

    def open(self, sealed: bytes, run: str, tenant: str) -> dict[str, str] | None:
        """Return the secrets, or None if no key opens this."""
        if sealed[:1] != VERSION or len(sealed) <= 1 + NONCE:
            return None
        nonce, rest = sealed[1 : 1 + NONCE], sealed[1 + NONCE :]
        for cipher in self._ciphers:
            said = _decrypted(cipher, nonce, rest, _about(run, tenant))
            if said is not None:
                return _decode(said)
        return None


def _cipher(key: str) -> "AESGCM":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - only with a key

    return AESGCM(hashlib.scrypt(key.encode(), salt=SALT, n=2**14, r=8, p=1, dklen=32))


def _about(run: str, tenant: str) -> bytes:
    return msgspec.json.encode([run, tenant])


def _decrypted(cipher: "AESGCM", nonce: bytes, rest: bytes, about: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - only with a key

    try:
        return cipher.decrypt(nonce, rest, about)
    except InvalidTag:
        return None
