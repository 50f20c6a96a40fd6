"""The fetcher: opens URLs under rules and limits. Its library is imported with the first of them."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from talaria.core.errors import FetchFailed
from talaria.fetch.redirect import STATUS, Call, Headers, redirected
from talaria.fetch.reply import Exchange, Limits, OpenReply, Page, Reply
from talaria.fetch.rules import Rules
from talaria.fetch.url import read_url

if TYPE_CHECKING:  # its library takes 0.2 s to import
    from talaria.fetch.resolver import Resolve


class Fetcher:
    """Opens URLs. One fetcher has one set of rules and its own connections; close it in the end.

    `resolve` and `tls` are seams for tests: how names are resolved, and whom to trust.
    """

    def __init__(
        self,
        rules: Rules | None = None,
        limits: Limits | None = None,
        *,
        resolve: "Resolve | None" = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.rules = rules or Rules()
        self.limits = limits or Limits()
        self._resolve = resolve
        self._tls = tls
        self._exchange: Exchange | None = None

    @asynccontextmanager
    async def open(
        self, url: str, *, method: str = "GET", headers: Headers = (), body: bytes | None = None
    ) -> AsyncGenerator[Reply]:
        """Ask for a URL, follow redirects, and give the reply once its head is here.

        `headers` like If-None-Match come back as status 304; other statuses are no errors either.

        Raises:
            FetchRefused: the URL, or one that it leads to, may not be opened.
            FetchFailed: there is no connection, or the reply is too slow, too large or broken.
        """
        call = Call(read_url(url), method, headers, body)
        deadline = asyncio.get_running_loop().time() + self.limits.timeout
        reply = await self._follow(call, deadline)
        try:
            yield reply
        finally:
            await reply.close()

    async def fetch(self, url: str, *, method: str = "GET", headers: Headers = (), body: bytes | None = None) -> Page:
        """Return the whole reply; for the rest see `open`."""
        async with self.open(url, method=method, headers=headers, body=body) as reply:
            whole = b"".join([chunk async for chunk in reply.chunks()])
            return Page(reply.url, reply.status, reply.headers, whole)

    async def close(self) -> None:
        """Close all connections."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await exchange.close()

    async def _follow(self, call: Call, deadline: float) -> OpenReply:
        for _ in range(self.limits.redirects + 1):
            self.rules.check(call.url)
            reply = await self._connected().send(call, deadline)
            if reply.status not in STATUS:
                return reply
            await reply.close()
            location = next((value for name, value in reply.headers if name == "location"), None)
            call = redirected(call, reply.status, location)
        raise FetchFailed(f"{call.url.origin}: more than {self.limits.redirects} redirects")

    def _connected(self) -> Exchange:
        if self._exchange is None:
            from talaria.fetch.exchange import AioHttpExchange  # noqa: PLC0415 - see above

            self._exchange = AioHttpExchange(self.rules, self.limits, self._resolve, self._tls)
        return self._exchange
