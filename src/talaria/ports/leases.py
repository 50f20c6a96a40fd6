"""Leases: who may append to a session."""

from typing import Protocol


class Leases(Protocol):
    """Ownership of sessions. An epoch is larger than every earlier epoch of the same session, restarts included."""

    async def acquire(self, session: str) -> int | None:
        """Take the session and return a new epoch, or None while somebody else holds it."""
        ...

    async def release(self, session: str, epoch: int) -> None:
        """Give the session back. Releasing what is no longer held does nothing."""
        ...
