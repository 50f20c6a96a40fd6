"""A store: the four ports that must share one transaction, opened and closed together."""

from typing import Protocol

from talaria.ports.blobs import Blobs
from talaria.ports.inbox import Inbox
from talaria.ports.journal import Index, Journal
from talaria.ports.leases import Leases


class Store(Protocol):
    """What an adapter of `store.url` opens. `journal.append` writes entries, index, letters and blobs as one."""

    @property
    def journal(self) -> Journal:
        """Entries."""
        ...

    @property
    def index(self) -> Index:
        """Rows found across sessions."""
        ...

    @property
    def inbox(self) -> Inbox:
        """Letters."""
        ...

    @property
    def leases(self) -> Leases:
        """Ownership."""
        ...

    @property
    def blobs(self) -> Blobs:
        """Large payloads."""
        ...

    async def check(self) -> None:
        """Return if the store can be written to.

        Raises:
            JournalError: it cannot now; StoreClosed: it never will.
        """
        ...

    async def close(self) -> None:
        """Finish what was begun, release ownership, close files. Closing twice is no error."""
        ...
