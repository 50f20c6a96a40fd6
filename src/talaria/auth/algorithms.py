"""Signatures that a token may have: asymmetric ones only, so that who can check a token cannot make one."""

from typing import Literal, get_args

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

OF_KEYS = {"RSA": ("RS", "PS"), "EC": ("ES",), "OKP": ("Ed",)}
"""What the algorithms of a kind of key (`kty`) begin with."""
