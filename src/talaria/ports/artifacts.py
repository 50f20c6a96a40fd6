"""Where the bytes of files are kept: a folder, or a bucket. What they are called, and whose they are, is elsewhere."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Protocol

IsKnown = Callable[[str], Awaitable[bool]]


class Bytes(Protocol):
    """Bytes under keys of letters, digits, "-" and "_". A key is written once. What fails raises Overloaded."""

    async def put(self, key: str, data: AsyncIterator[bytes]) -> None:
        """Keep bytes: all or nothing, whatever `data` raises and also when this is cancelled; durable on return."""
        ...

    def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Yield the bytes from `start` to before `end`, both within them, in pieces of at most 1 MiB.

        Raises:
            NotFound: there is nothing under this key.
        """
        ...

    async def delete(self, key: str) -> None:
        """Remove the bytes. An unknown key is no error."""
        ...

    async def sweep(self, age: float, is_known: IsKnown) -> int:
        """Remove what has lain here for `age` seconds and is not known; return how many that was.

        Also what puts that never ended have left.
        """
        ...

    async def check(self) -> None:
        """Return if bytes can be kept.

        Raises:
            Overloaded: not now; the message says why.
        """
        ...

    async def close(self) -> None:
        """Close what is open. Closing twice is no error."""
        ...
