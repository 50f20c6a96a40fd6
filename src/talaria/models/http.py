"""The transport over aiohttp: one pool of connections for all providers."""

import ssl
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

import aiohttp

from talaria.core.errors import ModelUnavailable
from talaria.ports.model import HttpCall, HttpReply

_ERRORS = (aiohttp.ClientError, OSError, TimeoutError, ValueError, ssl.SSLError)
_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
REPEATS = 2
"""How often a call is made again at once: there may be more than one such connection."""
_HEADERS = {"User-Agent": "talaria", "Accept-Encoding": "identity"}


class AioHttpTransport:
    """A `Transport`. Opens its session with the first call.

    Follows no redirects, keeps no cookies, uses no proxy settings of the environment.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._answered: set[str] = set()

    async def send(self, call: HttpCall, *, connect_timeout: float) -> HttpReply:
        """Send and return once the head of the reply is here.

        A connection that its server closed while it was idle is no failure (llama.cpp does so without a word): where
        the server has answered before, the call is made again.
        """
        place = call.url.partition("?")[0]  # a query may be another one each time
        repeats = REPEATS if place in self._answered else 0
        while True:
            try:
                response = await self._open().request(
                    call.method,
                    call.url,
                    headers=call.headers,
                    data=call.body,
                    timeout=_timeout(connect_timeout),
                    allow_redirects=False,
                )
            except _ERRORS as error:
                if repeats and isinstance(error, _CLOSED):
                    repeats -= 1
                    continue
                raise _unavailable(error, call.url) from None
            self._answered.add(place)
            return _Reply(response, call.url)

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        self._answered.clear()
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
                trust_env=False,
            )
        return self._session


class _Reply:
    """A reply of aiohttp's; its body is read as the network brings it."""

    def __init__(self, response: aiohttp.ClientResponse, url: str) -> None:
        self._response = response
        self._url = url
        self._read = response.content.readany

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        return [(name.lower(), value) for name, value in self._response.headers.items()]

    @property
    def is_read(self) -> bool:
        return self._response.content.at_eof()

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            data = await self._read()
        except _ERRORS as error:
            raise _unavailable(error, self._url) from None
        if not data:
            raise StopAsyncIteration
        return data

    async def close(self) -> None:
        """Give the connection back if the body was read to its end, else close it."""
        if self.is_read:
            self._response.release()
        else:
            self._response.close()


@lru_cache
def _timeout(connect: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=connect)


def _unavailable(error: Exception, url: str) -> ModelUnavailable:
    """Name the host and the kind of error: addresses and headers may hold secrets."""
    host = urlsplit(url).hostname or "?"
    known = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
    return ModelUnavailable("no connection to the model provider", operator=f"{host}: {type(error).__name__}{known}")
