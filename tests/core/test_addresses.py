"""Which addresses are on the public net."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.addresses import is_never_meant, is_public, plain, read_address

V4 = st.integers(0, 2**32 - 1).map(IPv4Address)
V6 = st.integers(0, 2**128 - 1).map(IPv6Address)


@pytest.mark.parametrize(
    "text",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254"),
        *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1"),
        *("198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "2001:db8::1"),
        *(
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "::127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::808:808",
        ),
        *("2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:10::1", "3fff::1", "5f00::1", "4000::1"),
    ],
)
def test_what_is_set_aside_is_not_public(text: str) -> None:
    address = read_address(text)
    assert address is not None
    assert not is_public(address)


@pytest.mark.parametrize(
    "text",
    [
        *("1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1"),
        *("198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1", "2400:3200::1"),
        *("::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
    ],
)
def test_what_hosts_have_is_public(text: str) -> None:
    address = read_address(text)
    assert address is not None
    assert is_public(address)


@given(V4 | V6)
def test_nothing_is_public_that_python_holds_for_private(address: IPv4Address | IPv6Address) -> None:
    meant = plain(address)
    if meant.is_private or meant.is_loopback or meant.is_link_local or meant.is_multicast or meant.is_unspecified:
        assert not is_public(address)


@given(V4)
def test_an_address_is_the_same_written_in_one_of_ipv6(address: IPv4Address) -> None:
    for inside in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert is_public(ipaddress.ip_address(inside)) == is_public(address)
    for old in (IPv6Address(int(address)), IPv6Address((0x2002 << 112) | (int(address) << 80))):
        assert not is_public(old)


@given(V4 | V6)
def test_no_name_leads_in_good_faith_to_what_is_never_meant(address: IPv4Address | IPv6Address) -> None:
    assert not (is_never_meant(address) and is_public(address))


@pytest.mark.parametrize("text", ["", "1", "127.1", "0177.0.0.1", "0x7f.0.0.1", "fe80::1%eth0", "1.2.3.4 ", "[::1]"])
def test_odd_spellings_are_no_addresses(text: str) -> None:
    assert read_address(text) is None
