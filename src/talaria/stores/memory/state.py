"""What the parts of a memory store share."""

from talaria.core.errors import StoreClosed
from talaria.ports.journal import Record


class Book:
    """One session: its entries, its newest owner, its blobs."""

    __slots__ = ("blobs", "epoch", "records")

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.epoch = 0
        self.blobs: dict[str, bytes] = {}


class MemoryState:
    """All sessions, and whether the store is open."""

    __slots__ = ("books", "closed")

    def __init__(self) -> None:
        self.books: dict[str, Book] = {}
        self.closed = False

    def check(self) -> None:
        """Raise StoreClosed unless open."""
        if self.closed:
            raise StoreClosed("the store is closed; open it again")


def is_within(path: str, session: str) -> bool:
    """Whether a path is the session's or that of a turn's own journal below it."""
    return path == session or path.startswith(session + "/")
