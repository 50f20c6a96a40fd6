"""One request over aiohttp: no redirects, cookies or proxies of its own; time and size are bounded."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

import aiohttp
from yarl import URL

from talaria.core.errors import FetchFailed, FetchRefused
from talaria.fetch.redirect import Call, Headers
from talaria.fetch.reply import Limits
from talaria.fetch.resolver import CheckedResolver, Resolve, addresses
from talaria.fetch.rules import Rules
from talaria.fetch.url import Url

_ERRORS = (aiohttp.ClientError, OSError, ValueError, ssl.SSLError)
_HEADERS = {"User-Agent": "talaria", "Accept": "*/*", "Accept-Encoding": "gzip, deflate"}
_DECODED = ("", "identity", "gzip", "deflate")
T = TypeVar("T")


class AioHttpExchange:
    """Connections to the addresses that the rules let through. Opens its session with the first request."""

    def __init__(self, rules: Rules, limits: Limits, resolve: Resolve | None, tls: ssl.SSLContext | None) -> None:
        self._limits = limits
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=CheckedResolver(rules, resolve or addresses), use_dns_cache=False, ssl=tls or True
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_HEADERS,
            skip_auto_headers=("Content-Type",),
            timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect),
            trust_env=False,
        )

    async def send(self, call: Call, deadline: float) -> "AioHttpReply":
        """Send and return once the head of the reply is here."""
        sending = self._session.request(
            call.method,
            URL(str(call.url), encoded=True),
            headers=call.headers,
            data=call.body,
            allow_redirects=False,
        )
        response = await _bounded(sending, deadline, call.url)
        reply = AioHttpReply(call.url, response, self._limits.max_bytes, deadline)
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in _DECODED:
            await reply.close()
            raise FetchFailed(f"{call.url.origin} sent a body in an encoding that nobody asked for")
        return reply

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


class AioHttpReply:
    """A reply; its body is counted as it is read."""

    def __init__(self, url: Url, response: aiohttp.ClientResponse, most: int, deadline: float) -> None:
        self.url = url
        self.status = response.status
        self.headers: Headers = [(name.lower(), value) for name, value in response.headers.items()]
        self._response = response
        self._most = most
        self._deadline = deadline

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, without its compression."""
        has_body = self._response.method != "HEAD" and self.status != 304
        if has_body and (self._response.content_length or 0) > self._most:
            raise self._too_large()
        read = 0
        while data := await _bounded(self._response.content.readany(), self._deadline, self.url):
            read += len(data)
            if read > self._most:
                raise self._too_large()
            yield data

    async def close(self) -> None:
        """Give the connection back if the body was read to its end, else close it."""
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()

    def _too_large(self) -> FetchFailed:
        return FetchFailed(f"{self.url.origin}: the answer is larger than {self._most} bytes")


async def _bounded(work: Awaitable[T], deadline: float, url: Url) -> T:
    try:
        async with asyncio.timeout_at(deadline):
            return await work
    except FetchRefused:
        raise
    except TimeoutError:
        raise FetchFailed(f"{url.origin} took too long") from None
    except _ERRORS as error:
        raise FetchFailed(f"{url.origin}: {_words(error)}") from None


def _words(error: Exception) -> str:
    """What went wrong, without what the other side said."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "there is no such host"
        case aiohttp.ClientConnectorCertificateError():
            return "its certificate cannot be trusted"
        case aiohttp.ClientConnectorError() | aiohttp.ClientSSLError():
            return "no connection"
        case aiohttp.ClientPayloadError():
            return "the answer ended too early, or is broken"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return "the connection was lost"
        case _:
            return "the answer is not HTTP that can be read"
