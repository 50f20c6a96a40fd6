"""Addresses on the public net, as a type of parameters."""

import ipaddress
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from talaria.core.addresses import Address, is_public

_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "localdomain")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


def _public_url(text: str) -> str:
    if re.search(r"[\x00-\x20\x7f\\]", text):
        raise ValueError("holds a space, a control character or a backslash; give one plain http(s) URL")
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https"):
        raise ValueError("is no http or https URL")
    if "@" in parts.netloc:
        raise ValueError("holds a user name or password; leave them out")
    _ = parts.port  # raises ValueError itself
    _check_host(parts.hostname or "")
    return text


def _check_host(host: str) -> None:
    if not host:
        raise ValueError("has no host")
    if not host.isascii() or "%" in host:
        raise ValueError("has a host in an odd spelling; give its plain ASCII form (xn--… for other scripts)")
    if ":" in host:
        address: Address = ipaddress.IPv6Address(host)
    else:
        name = host.removesuffix(".")
        labels = name.split(".")
        if _NUMBER.fullmatch(labels[-1]) is None:
            _check_name(name, labels)
            return
        try:  # what ends in a number is an address to every client, in whatever spelling; only the usual one is taken
            address = ipaddress.IPv4Address(name)
        except ValueError:
            raise ValueError("has an address in an odd spelling; write it as four decimal numbers") from None
    if not is_public(address):
        raise ValueError("leads to a private, local or reserved address; only public ones are allowed")


def _check_name(name: str, labels: list[str]) -> None:
    if not all(labels):
        raise ValueError("has a host with an empty part")
    folded = name.lower()
    if len(labels) == 1 or any(folded == each or folded.endswith(f".{each}") for each in _LOCAL_NAMES):
        raise ValueError("names a host of a local net; only public ones are allowed")


PublicUrl = Annotated[
    str,
    AfterValidator(_public_url),
    Field(
        description="A public http or https URL, without credentials.",
        max_length=2048,
        json_schema_extra={"format": "uri"},
    ),
]
"""An http or https URL whose host is not private, loopback, link-local or reserved, in any spelling; no credentials."""
