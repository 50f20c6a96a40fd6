"""The secrets of runs, in memory only: what a request brought for its tools."""

from collections.abc import Mapping


class Secrets:
    """By run, from admission until the run is over."""

    def __init__(self) -> None:
        self._by_run: dict[str, dict[str, str]] = {}

    def __len__(self) -> int:
        return len(self._by_run)

    def keep(self, run_id: str, secrets: Mapping[str, str]) -> None:
        """Keep a run's secrets."""
        if secrets:
            self._by_run[run_id] = dict(secrets)

    def get(self, run_id: str) -> dict[str, str] | None:
        """Return a run's secrets, or None if this process has none of it."""
        return self._by_run.get(run_id)

    def drop(self, run_id: str) -> None:
        """The run is over."""
        self._by_run.pop(run_id, None)
