"""Hosts of URLs: read once, and from then on in one spelling. Pure."""

import re
from ipaddress import IPv6Address

from talaria.core.addresses import read_address
from talaria.core.errors import FetchRefused

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
LONGEST = 253


def read_host(text: str) -> str:
    """Return a host in the spelling that is compared, resolved and sent: small letters, ASCII, no dot at its end.

    Addresses of IPv6 come without brackets.

    Raises:
        FetchRefused: it is no host, or an address in a spelling that some programs take for another one.
    """
    if text.startswith("["):
        address = read_address(text[1:-1]) if text.endswith("]") else None
        if not isinstance(address, IPv6Address):
            raise FetchRefused("the URL's host is no IPv6 address")
        return str(address)
    name = (text if text.isascii() else _ascii(text)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > LONGEST or not all(map(_LABEL.fullmatch, labels)):
        raise FetchRefused("the URL's host is no name that can be resolved")
    # What ends in a number is an address to every client: 127.1, 0x7f.1, 2130706433.
    if _NUMBER.fullmatch(labels[-1]) and (read_address(name) is None or not text.isascii()):
        raise FetchRefused("the URL's host is an address in an odd spelling; write it as four decimal numbers")
    return name


def _ascii(text: str) -> str:
    """The form that the net uses for names in other scripts; wide letters and dots become plain ones."""
    import idna  # noqa: PLC0415 - few hosts need its tables

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except idna.IDNAError:
        raise FetchRefused("the URL's host is no name that can be resolved") from None
