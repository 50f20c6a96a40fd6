"""Which IP addresses are on the public net. Pure.

The tables are the special-purpose registries of IANA (RFC 6890), written out: `is_global` of `ipaddress` differs from
one version of Python to the next.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_SPECIAL_4 = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
        ),
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
"""All that is given out. Within it: protocols (with Teredo and ORCHID), documentation, 6to4."""
_SPECIAL_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48")))
_NAT64 = IPv6Network("64:ff9b::/96")
"""How IPv4 is reached where there is only IPv6 (RFC 6052): what counts is the address inside."""
_NEVER_MEANT: tuple[Network, ...] = (
    *map(IPv4Network, ("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4")),
    *map(IPv6Network, ("::/128", "fe80::/10", "ff00::/8")),
)


def read_address(text: str) -> Address | None:
    """Return the address that a text is in its usual spelling, without a zone; else None."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return None if isinstance(found, IPv6Address) and found.scope_id is not None else found


def plain(address: Address) -> Address:
    """Return the address that is meant: the one of IPv4 that is mapped into one of IPv6, or translated (NAT64)."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address


def is_public(address: Address) -> bool:
    """Return whether an address is one that anybody's host on the net may have."""
    meant = plain(address)
    if isinstance(meant, IPv4Address):
        return not any(meant in each for each in _SPECIAL_4)
    return meant in _UNICAST_6 and not any(meant in each for each in _SPECIAL_6)


def is_never_meant(address: Address) -> bool:
    """Return whether no name leads there in good faith: link-local (the metadata of clouds), multicast, reserved."""
    meant = plain(address)
    return any(meant in each for each in _NEVER_MEANT)
