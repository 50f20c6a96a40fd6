"""The keys of an identity provider in this process: fetched when they are needed, replaced as the provider's change."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import structlog
from jwt import PyJWK, PyJWTError

from talaria.auth.algorithms import OF_KEYS
from talaria.auth.provider import ProviderFailed
from talaria.core.errors import Overloaded

FRESH = 600_000
"""ms after which keys are fetched anew, while the old ones serve."""
OLD = 24 * 3600_000
"""ms after which keys that could not be fetched anew are not used any more."""
PAUSE = 10_000
"""ms between two attempts: tokens with made-up keys must not make us a burden to the provider."""

_log = structlog.get_logger("talaria.auth")


class KeySet:
    """Keys by (kid, algorithm). `now` tells ms; `version` counts how often the keys became others."""

    def __init__(
        self, fetch: Callable[[], Awaitable[list[Any]]], allowed: Sequence[str], now: Callable[[], int]
    ) -> None:
        self._fetch = fetch
        self._allowed = frozenset(allowed)
        self._now = now
        self._raw: list[Any] = []
        self._keys: dict[tuple[str, str], PyJWK] = {}
        self._fetched: int | None = None
        self._tried: int | None = None
        self._has_failed = False
        self._task: asyncio.Task[None] | None = None
        self.version = 0

    async def ready(self) -> None:
        """Return when there are keys that are young enough; those that are not quite fresh are renewed meanwhile.

        Raises:
            Overloaded: the provider cannot be reached.
        """
        if self._is_within(FRESH, self._fetched):
            return
        refresh = self._refresh()
        if not self._is_within(OLD, self._fetched):
            if refresh is not None:
                await asyncio.shield(refresh)
            if not self._is_within(OLD, self._fetched):
                raise _unreachable()

    async def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """Return the key of this id (None: the only one there is for the algorithm), or None.

        Raises:
            Overloaded: it is not known, and the provider cannot be asked for it.
        """
        found = self._known(kid, algorithm)
        if found is None and (refresh := self._refresh()) is not None:
            await asyncio.shield(refresh)
            found = self._known(kid, algorithm)
        if found is None and self._has_failed:
            raise _unreachable()
        return found

    def _known(self, kid: str | None, algorithm: str) -> PyJWK | None:
        if kid is not None:
            return self._keys.get((kid, algorithm))
        fitting = [key for (_, name), key in self._keys.items() if name == algorithm]
        return fitting[0] if len(fitting) == 1 else None

    def _is_within(self, limit: int, since: int | None) -> bool:
        return since is not None and 0 <= self._now() - since < limit

    def _refresh(self) -> "asyncio.Task[None] | None":
        """The attempt that is under way, or a new one, or None: the last one was a moment ago."""
        if self._task is None or self._task.done():
            if self._is_within(PAUSE, self._tried):
                return None
            self._tried = self._now()
            self._task = asyncio.create_task(self._renew(), name="login keys")
        return self._task

    async def _renew(self) -> None:
        try:
            raw = await self._fetch()
        except ProviderFailed as error:
            self._has_failed = True
            _log.warning("login_keys_not_fetched", why=str(error), age_ms=self._fetched and self._now() - self._fetched)
            return
        self._has_failed, self._fetched = False, self._now()
        if raw != self._raw:
            self._raw, self._keys = raw, read_keys(raw, self._allowed)
            self.version += 1
            _log.info("login_keys_changed", keys=len(self._keys))


def read_keys(raw: Sequence[Any], allowed: frozenset[str]) -> dict[tuple[str, str], PyJWK]:
    """The usable ones of JSON Web Keys (RFC 7517), for each algorithm that they may be used with."""
    found: dict[tuple[str, str], PyJWK] = {}
    for each in raw:
        if not isinstance(each, dict):
            continue
        jwk = cast("dict[str, Any]", each)
        kid = jwk.get("kid", "")
        if not isinstance(kid, str) or jwk.get("use", "sig") != "sig":
            continue
        for name in _algorithms(jwk, allowed):
            try:
                found.setdefault((kid, name), PyJWK(jwk, name))
            except PyJWTError:
                continue  # of another curve, or of a kind that is not known here
    return found


def _algorithms(jwk: dict[str, Any], allowed: frozenset[str]) -> list[str]:
    begins = OF_KEYS.get(str(jwk.get("kty")), ())
    fitting = [name for name in allowed if name[:2] in begins]
    return [name for name in fitting if jwk.get("alg", name) == name]


def _unreachable() -> Overloaded:
    return Overloaded("logins cannot be checked now: the identity provider does not answer; try again", retry_after=10)
