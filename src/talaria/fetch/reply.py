"""What comes back of a request, within which limits, and what makes requests."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from talaria.fetch.redirect import Call, Headers
from talaria.fetch.url import Url


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_bytes` of a body, after decompression. `timeout`: seconds for all of it, `connect` for a connection."""

    max_bytes: int = 20_000_000
    timeout: float = 30.0
    connect: float = 10.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Page:
    """A reply, whole. `url` is where it came from in the end; names of headers are in small letters."""

    url: Url
    status: int
    headers: Headers
    body: bytes

    def header(self, name: str) -> str:
        """Return the value of a header, "" without one."""
        return next((value for key, value in self.headers if key == name), "")


class Reply(Protocol):
    """A reply whose body has not been read yet."""

    @property
    def url(self) -> Url:
        """Where it came from in the end."""
        ...

    @property
    def status(self) -> int:
        """HTTP's."""
        ...

    @property
    def headers(self) -> Headers:
        """With names in small letters."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises:
            FetchFailed: it is too large or too slow, or ends too early.
        """
        ...


class OpenReply(Reply, Protocol):
    """A reply that is to be closed."""

    async def close(self) -> None:
        """Let go of the connection."""
        ...


class Exchange(Protocol):
    """Makes requests, without following redirects."""

    async def send(self, call: Call, deadline: float) -> OpenReply:
        """Send and return once the head of the reply is here. `deadline` is the loop's time, for the body too."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
