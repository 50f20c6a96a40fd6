"""What a list of hosts lets through."""

import pytest

from talaria.core.errors import ConfigurationError
from talaria.sandbox.egress import Allowed


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("pypi.org", 443, True),
        ("PyPI.org.", 80, True),
        ("pypi.org", 8443, False),
        ("evil-pypi.org", 443, False),
        ("pypi.org.evil.example", 443, False),
        ("a.example.com", 443, True),
        ("b.a.example.com", 443, True),
        ("example.com", 443, False),
        ("anexample.com", 443, False),
        ("api.test", 8443, True),
        ("api.test", 443, False),
        ("10.1.2.3", 80, True),
        ("10.2.2.3", 80, False),
        ("::ffff:10.1.2.3", 80, True),
        ("[fd00::1]", 9000, True),
        ("127.0.0.1", 80, False),
        ("1.1.1.1", 443, False),
        ("", 443, False),
    ],
)
def test_only_what_is_listed_may_be_asked_for(host: str, port: int, allowed: bool) -> None:
    listed = Allowed(["pypi.org", "*.example.com", "api.test:8443", "10.1.0.0/16", "[fd00::1]:9000"])
    assert listed.has(host, port) is allowed


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "192.168.1.1",
            "172.16.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *(
            "::1",
            "::",
            "fe80::1",
            "fe80::1%eth0",
            "fd00::2",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::7f00:1",
        ),
        "no address",
    ],
)
def test_names_lead_to_no_private_address(address: str) -> None:
    assert not Allowed(["*.example.com"]).reachable(address, 443)


def test_names_lead_to_public_addresses_and_to_listed_ones() -> None:
    listed = Allowed(["internal.example:8080", "10.1.0.0/16:8080"])
    assert listed.reachable("93.184.216.34", 8080)
    assert listed.reachable("2606:4700:4700::1111", 8080)
    assert listed.reachable("10.1.9.9", 8080)
    assert not listed.reachable("10.1.9.9", 80)


@pytest.mark.parametrize(
    "entry", ["", "https://pypi.org", "user@host", "host:0", "host:x", "a b", ":443", "host:99999"]
)
def test_what_is_no_host_is_told_at_the_start(entry: str) -> None:
    with pytest.raises(ConfigurationError, match=r"sandbox\.egress"):
        Allowed([entry])
