"""Resolving with a check: what a name leads to is judged, and just that is connected to."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

from aiohttp.abc import AbstractResolver, ResolveResult

from talaria.core.addresses import read_address
from talaria.core.errors import FetchRefused
from talaria.fetch.rules import Rules

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def addresses(host: str, port: int) -> Sequence[str]:
    """Return what a name leads to, as this machine resolves it."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


class CheckedResolver(AbstractResolver):
    """Resolves hosts by way of `resolve`; every address must be one that the rules let through."""

    def __init__(self, rules: Rules, resolve: Resolve) -> None:
        self._rules = rules
        self._resolve = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a host, checked; nothing is resolved a second time."""
        found = [read_address(each) for each in dict.fromkeys(await self._resolve(host, port))]
        good = [each for each in found if each is not None]
        if len(good) < len(found):  # one with a zone: only link-local ones have those
            raise FetchRefused(f"{host} leads to an address that is not public; such addresses are not opened here")
        if not good:
            raise OSError(f"{host} has no address")
        self._rules.check_addresses(host, port, good)
        return [
            ResolveResult(
                hostname=host,
                host=str(each),
                port=port,
                family=socket.AF_INET if each.version == 4 else socket.AF_INET6,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for each in good
        ]

    async def close(self) -> None:
        """Nothing is held."""
