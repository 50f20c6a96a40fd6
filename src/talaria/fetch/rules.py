"""The rules of one fetcher: which URLs may be opened, and at which addresses. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from talaria.core.addresses import Address, is_never_meant, is_public, read_address
from talaria.core.errors import FetchRefused
from talaria.fetch.listed import Listed
from talaria.fetch.url import PORTS, Url

FIRST_FREE_PORT = 1024


@dataclass(frozen=True, slots=True)
class Rules:
    """`only`: the URLs there are, None for all on the public net. `private`: who may be private.

    True stands for all that is private or loopback; link-local addresses are always left out.
    """

    only: Listed | None = None
    private: Listed | bool = False

    def check(self, url: Url) -> None:
        """Check a URL before anything is looked up.

        Raises:
            FetchRefused: it may not be opened.
        """
        if self.only is not None and not self.only.has(url):
            raise FetchRefused(f"{url.origin}: not among the hosts that may be asked here")
        if self.only is None and url.port < FIRST_FREE_PORT and url.port not in PORTS.values():
            raise FetchRefused(f"{url.origin}: port {url.port} is not one of the web's")
        address = read_address(url.host)
        if address is not None:
            self.check_addresses(url.host, url.port, (address,))

    def check_addresses(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        """Check all the addresses that a host has.

        Raises:
            FetchRefused: one of them may not be connected to. Which one is not said: that is nobody's business.
        """
        if not all(self._may_connect(host, port, each) for each in addresses):
            raise FetchRefused(f"{host} leads to an address that is not public; such addresses are not opened here")

    def _may_connect(self, host: str, port: int, address: Address) -> bool:
        if is_public(address):
            return True
        if self.private is True:
            return not is_never_meant(address)
        lists = (self.only, self.private or None)
        return any(each.vouches(host, port, address) for each in lists if each is not None)
