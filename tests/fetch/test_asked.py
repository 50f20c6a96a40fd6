"""Requests that say more than they may: nothing is sent at all."""

import pytest

from talaria.core.errors import FetchRefused
from tests.fetch.raw import fetching, serving
from tests.fetch.test_fetcher import reply

SMUGGLED = b"0\r\n\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Host", "internal.test"),
        ("hOsT", "internal.test"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", "3"),
        ("Connection", "Upgrade"),
        ("Upgrade", "h2c"),
        ("Expect", "100-continue"),
        ("Proxy-Authorization", "Basic x"),
        ("X-Forwarded-Host", "internal.test"),
        ("Accept-Encoding", "br"),
        ("Host ", "internal.test"),
        ("X-A", "a\r\nHost: internal.test"),
        ("X-A", "a\nHost: internal.test"),
        ("X-A", "a\0b"),
        ("X-A: b\r\nHost", "internal.test"),
        ("", "x"),
        ("X-A", "a" * 20_000),
    ],
)
async def test_a_header_changes_neither_where_a_request_goes_nor_where_it_ends(name: str, value: str) -> None:
    async with serving(reply(b"ok")) as server, fetching() as fetcher:
        with pytest.raises(FetchRefused, match="header"):
            await fetcher.fetch(server.url("good.test"), method="POST", headers=[(name, value)], body=SMUGGLED)
        assert server.asked == []


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get", "GET /x", "GET / HTTP/1.1\r\nX: y\r\n", ""])
async def test_methods_that_ask_for_nothing_are_refused(method: str) -> None:
    async with serving(reply(b"ok")) as server, fetching() as fetcher:
        with pytest.raises(FetchRefused, match="method"):
            await fetcher.fetch(server.url("good.test"), method=method)
        assert server.asked == []


async def test_headers_of_the_asker_are_sent() -> None:
    async with serving(reply(b"ok")) as server, fetching() as fetcher:
        sent = [("Authorization", "Bearer x"), ("X-Name", "你好\tthere"), ("Content-Type", "text/plain")]
        page = await fetcher.fetch(server.url("good.test"), method="POST", headers=sent, body=b"x")
        assert page.status == 200
        assert "Authorization: Bearer x\r\n" in server.asked[0]
