"""An identity provider: where its keys are, and what it says of them. It is not followed elsewhere."""

from typing import Any, NoReturn, cast

import aiohttp
import msgspec

PATIENCE = 5.0
"""Seconds that one answer may take."""
LARGEST = 512 * 1024
"""Bytes of one answer."""
WELL_KNOWN = "/.well-known/openid-configuration"

_HEADERS = {"User-Agent": "talaria", "Accept": "application/json", "Accept-Encoding": "identity"}


class ProviderFailed(Exception):
    """The provider's keys could not be had; for the operator's log."""


class Provider:
    """An OpenID provider (OpenID Connect Discovery 1.0). `jwks_url` is where its keys are; empty: it is asked."""

    def __init__(self, issuer: str, jwks_url: str = "") -> None:
        self._issuer = issuer
        self._jwks_url = jwks_url

    async def keys(self) -> list[Any]:
        """Return the JSON Web Keys that it signs with now.

        Raises:
            ProviderFailed: it did not answer, or not as it must.
        """
        try:
            timeout = aiohttp.ClientTimeout(total=PATIENCE)
            async with aiohttp.ClientSession(timeout=timeout, headers=_HEADERS, auto_decompress=False) as session:
                url = self._jwks_url or await self._discover(session)
                return _list(await _get(session, url), url)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, RecursionError) as error:
            raise ProviderFailed(f"{type(error).__name__}: {error}") from error

    async def _discover(self, session: aiohttp.ClientSession) -> str:
        url = self._issuer.rstrip("/") + WELL_KNOWN
        said = await _get(session, url)
        if said.get("issuer") != self._issuer:
            raise ProviderFailed(f"{url} says that the issuer is {said.get('issuer')!r}, auth.issuer is another one")
        found = said.get("jwks_uri")
        if not isinstance(found, str) or not found.startswith(("https://", self._issuer.partition("//")[0])):
            raise ProviderFailed(f"{url} has no jwks_uri of https")
        return found


async def _get(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    async with session.get(url, allow_redirects=False) as response:
        if response.status != 200:
            _refuse(url, f"answered with status {response.status}; it must answer itself, with 200")
        body = b""
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > LARGEST:
                _refuse(url, f"answered with more than {LARGEST} bytes")
    try:
        said: Any = msgspec.json.decode(body)
    except msgspec.MsgspecError as error:
        raise ProviderFailed(f"{url} did not answer with JSON") from error
    if not isinstance(said, dict):
        _refuse(url, "did not answer with a JSON object")
    return cast("dict[str, Any]", said)


def _list(said: dict[str, Any], url: str) -> list[Any]:
    keys = said.get("keys")
    if not isinstance(keys, list):
        _refuse(url, "has no list of keys")
    return cast("list[Any]", keys)


def _refuse(url: str, what: str) -> NoReturn:
    raise ProviderFailed(f"{url} {what}")
