"""Lists of hosts in the configuration: what is on them, and whose addresses may be private. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from urllib.parse import unquote

from talaria.core.addresses import Address, Network, is_never_meant, plain, read_address
from talaria.core.errors import ConfigurationError, FetchRefused
from talaria.fetch.host import read_host
from talaria.fetch.url import PORTS, Url, read_url

_PORT = re.compile(r"(.*):([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry: a name (`*.` before it: all below it) or a network. Without a port, the usual ones are meant."""

    name: str = ""
    network: Network | None = None
    scheme: str = ""
    port: int | None = None
    prefix: str = ""

    def has(self, url: Url) -> bool:
        if self.scheme not in ("", url.scheme) or url.port != (self.port or PORTS[url.scheme]):
            return False
        return self._has_host(url.host) and _is_below(url.path, self.prefix)

    def vouches(self, host: str, port: int, address: Address) -> bool:
        if self.port not in (None, port):
            return False
        if self.network is not None:
            return plain(address) in self.network
        return self.name == host and not is_never_meant(address)

    def _has_host(self, host: str) -> bool:
        if self.network is not None:
            address = read_address(host)
            return address is not None and plain(address) in self.network
        return host.endswith(self.name[1:]) if self.name.startswith("*.") else host == self.name


class Listed:
    """A list of hosts: "api.example.com", "*.example.com", "host:8443", "10.1.0.0/16" or "https://host/v1/".

    A host that is named, or an address in a listed network, may be private; what is below `*.` may not: whoever can
    add a name there could lead it anywhere. No name leads to link-local addresses.

    Raises:
        ConfigurationError: an entry is none of these; `where` says of which key.
    """

    def __init__(self, entries: Sequence[str], where: str) -> None:
        self._entries = [_read(entry, where) for entry in entries]

    def has(self, url: Url) -> bool:
        """Return whether a URL is on the list."""
        return any(entry.has(url) for entry in self._entries)

    def vouches(self, host: str, port: int, address: Address) -> bool:
        """Return whether a host may have this address though it is private."""
        return any(entry.vouches(host, port, address) for entry in self._entries)


def _is_below(path: str, prefix: str) -> bool:
    """Whether a path is below another one, also to a server that decodes it first."""
    if not prefix:
        return True
    decoded = path
    while (further := unquote(decoded)) != decoded:
        decoded = further
    return path.startswith(prefix) and ".." not in re.split(r"[/\\]", decoded)


def _read(entry: str, where: str) -> _Entry:
    try:
        return _read_url_entry(entry) if "://" in entry else _read_host_entry(entry)
    except (FetchRefused, ValueError):
        words = '"api.example.com", "*.example.com", "host:8443", "10.1.0.0/16" or "https://host/v1/"'
        raise ConfigurationError(f"{where}: '{entry[:200]}' is no host; write {words}") from None


def _read_url_entry(entry: str) -> _Entry:
    url = read_url(entry)
    if url.query or not url.path.endswith("/"):
        raise ValueError(entry)
    address = read_address(url.host)
    network = None if address is None else ip_network(plain(address))
    return _Entry(url.host, network, url.scheme, url.port, url.path if url.path != "/" else "")


def _read_host_entry(entry: str) -> _Entry:
    host, port = entry, None
    if (found := _PORT.fullmatch(entry)) and (":" not in found[1] or found[1].endswith("]")):
        host, port = found[1], int(found[2])
        if not 0 < port < 65536:
            raise ValueError(entry)
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if "/" in bare or read_address(bare) is not None:
        network = ip_network(bare)
        return _Entry(network=network, port=port)
    wild = host.startswith("*.")
    name = read_host(host.removeprefix("*."))
    return _Entry("*." + name if wild else name, port=port)
