"""The secrets of runs: in memory, and with `secrets.key` sealed beside the run, so that it survives a restart."""

from collections.abc import Mapping

import structlog

from talaria.core.errors import SecretsLost
from talaria.core.ids import SessionKey
from talaria.core.redaction import Redactor
from talaria.journal.entries import TurnStarted
from talaria.journal.index import SEALED
from talaria.ports.journal import Index, Put
from talaria.runtime.sealing import Seals

_log = structlog.get_logger("talaria.secrets")


class Secrets:
    """By run, from admission until the run is over."""

    def __init__(self, seals: Seals, index: Index) -> None:
        self._seals = seals
        self._index = index
        self._by_run: dict[str, dict[str, str]] = {}

    def __len__(self) -> int:
        return len(self._by_run)

    def keep(self, run_id: str, secrets: Mapping[str, str]) -> None:
        """Keep a run's secrets."""
        if secrets:
            self._by_run[run_id] = dict(secrets)

    def sealed(self, run_id: str, key: SessionKey, at: int) -> tuple[Put, ...]:
        """Return the row that keeps them beside the run; it goes with the run, or with the session."""
        secrets = self._by_run.get(run_id)
        data = self._seals.seal(secrets, run_id, key.tenant) if secrets else None
        return () if data is None else (Put(SEALED, run_id, key.path, key.scope, at, data),)

    async def of(self, turn: TurnStarted, tenant: str) -> dict[str, str] | None:
        """Return a run's secrets, or None if it came without any.

        Raises:
            SecretsLost: it came with secrets that nobody can read any more.
        """
        secrets = await self.of_run(turn.run, tenant) if turn.secrets else None
        if turn.secrets and secrets is None:
            names = ", ".join(turn.secrets)
            if await self._index.get(SEALED, turn.run) is not None:
                raise SecretsLost(f"the secrets of this run ({names}) cannot be read any more; send the request again")
            raise SecretsLost(f"the secrets of this run ({names}) were lost in a restart; send the request again")
        return secrets

    async def of_run(self, run_id: str, tenant: str) -> dict[str, str] | None:
        """Return a run's secrets, or None if there are none that can be read."""
        if run_id in self._by_run:
            return self._by_run[run_id]
        row = await self._index.get(SEALED, run_id)
        if row is None:
            return None
        secrets = self._seals.open(row.data, run_id, tenant)
        if secrets is None:
            _log.error("secrets_unreadable", run=run_id, advice="secrets.key lacks the key that sealed them; add it")
            return None
        self.keep(run_id, secrets)
        return secrets

    async def redactor(self, run_id: str, tenant: str) -> Redactor:
        """Return what masks a run's secrets, as far as they can be read."""
        return Redactor(await self.of_run(run_id, tenant) or {})

    def drop(self, run_id: str) -> None:
        """The run is over."""
        self._by_run.pop(run_id, None)
