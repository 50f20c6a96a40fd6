"""A store: the four ports that must share one transaction, opened and closed together."""

from typing import Protocol

from talaria.core.histogram import Histogram
from talaria.ports.blobs import Blobs
from talaria.ports.inbox import Inbox
from talaria.ports.journal import Index, Journal
from talaria.ports.leases import Leases

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
OPERATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Commits:
    """The commits of a store since it was opened: how long each took, and how many operations it made durable."""

    def __init__(self) -> None:
        self.seconds = Histogram(SECONDS)
        self.operations = Histogram(OPERATIONS)


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

    @property
    def commits(self) -> Commits:
        """How its commits went; a store that has none keeps these at zero."""
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
