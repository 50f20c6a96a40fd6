"""Which hosts and ports may be reached, and at which addresses."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from talaria.core.addresses import Address, is_public
from talaria.core.errors import ConfigurationError

_PORTS = (80, 443)


class Allowed:
    """The list. An entry is a host, `*.` and a domain (not the domain itself), an address, or a network of addresses.

    After `:` it may have a port, else 80 and 443 are meant. Names lead to public addresses only, unless an address or
    a network of the list says otherwise.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self._names: set[tuple[str, int]] = set()
        self._networks: list[tuple[IPv4Network | IPv6Network, int]] = []
        for entry in entries:
            host, ports = _split(entry)
            network = _network(host)
            if network is None:
                self._names.update((host, port) for port in ports)
            else:
                self._networks.extend((network, port) for port in ports)

    def has(self, host: str, port: int) -> bool:
        """Return whether a host, as a request names it, may be asked for."""
        host = normal(host)
        address = _address(host)
        if address is not None:
            return self._listed(address, port)
        parts = host.split(".")
        above = ("*." + ".".join(parts[at:]) for at in range(1, len(parts)))
        return any((name, port) in self._names for name in (host, *above))

    def reachable(self, address: str, port: int) -> bool:
        """Return whether an address that a name leads to may be connected to."""
        found = _address(address)
        return found is not None and (is_public(found) or self._listed(found, port))

    def _listed(self, address: Address, port: int) -> bool:
        return any(port == each and address in network for network, each in self._networks)


def normal(host: str) -> str:
    """Return a host in the one spelling that is compared."""
    return host.strip("[]").rstrip(".").lower()


def _split(entry: str) -> tuple[str, tuple[int, ...]]:
    host, found, port = entry.strip().rpartition(":")
    if not found or (":" in host and not host.endswith("]")):
        host, port = entry.strip(), ""
    host = normal(host)
    bad = not host or any(letter.isspace() or letter in "/@?#" for letter in host.partition("/")[0])
    if bad or (port and not (port.isdecimal() and 0 < int(port) < 65536)):
        words = 'write "pypi.org", "*.example.com" or "host:443"'
        raise ConfigurationError(f'sandbox.egress: "{entry}" is no host; {words}.')
    return host, (int(port),) if port else _PORTS


def _network(host: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(host, strict=False)
    except ValueError:
        return None


def _address(host: str) -> Address | None:
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found
