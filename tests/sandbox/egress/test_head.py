"""How the proxy reads the beginning of a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.sandbox.egress.head import BadRequest, Head, parse


def test_a_tunnel_names_host_and_port() -> None:
    assert parse(b"CONNECT [::1]:443 HTTP/1.1\r\nHost: x") == Head("[::1]", 443, tunnel=True)


def test_a_request_is_passed_on_for_the_host_in_its_line_and_says_nothing_of_the_proxy() -> None:
    head = parse(
        b"POST http://example.com:81/a?b=1 HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: x\r\n"
        b"Proxy-Connection: keep-alive\r\nAccept: */*\r\nContent-Length: 5"
    )
    assert head == Head(
        "example.com",
        81,
        False,
        b"POST /a?b=1 HTTP/1.1\r\nHost: example.com:81\r\nAccept: */*\r\nContent-Length: 5\r\n"
        b"Connection: close\r\n\r\n",
        5,
    )


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET / HTTP/1.1",
        b"GET https://example.com/ HTTP/1.1",
        b"GET ftp://example.com/ HTTP/1.1",
        b"GET http://user@example.com/ HTTP/1.1",
        b"GET http:///path HTTP/1.1",
        b"GET http://example.com:0/ HTTP/1.1",
        b"CONNECT example.com HTTP/1.1",
        b"CONNECT example.com:443",
        b"CONNECT example.com:443 SPDY/3",
        b"GET  http://example.com/ HTTP/1.1",
        b"GET http://example.com/ HTTP/1.1\r\n folded",
        b"GET http://example.com/ HTTP/1.1\r\nA: b\nC: d",
        b"GET http://example.com/ HTTP/1.1\r\nTransfer-Encoding: chunked",
        b"GET http://example.com/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
        b"GET http://example.com/ HTTP/1.1\r\nContent-Length: -1",
        b"GET http://[::1/ HTTP/1.1",
        "GET http://ä.example/ HTTP/1.1".encode(),
    ],
)
def test_what_is_no_request_to_a_proxy_is_refused(head: bytes) -> None:
    with pytest.raises(BadRequest):
        parse(head)


@given(st.binary(max_size=300) | st.binary(max_size=100).map(lambda rest: b"GET http://" + rest))
def test_anything_else_is_refused_too(head: bytes) -> None:
    try:
        parsed = parse(head)
    except BadRequest:
        return
    assert 0 < parsed.port < 65536
    assert parsed.host
