"""The fetcher, against real servers on loopback and names that resolve as the tests say."""

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from talaria.core.errors import FetchFailed, FetchRefused
from talaria.fetch import Fetcher, Limits, Listed, Rules
from tests.fetch.certificate import make_certificate
from tests.fetch.raw import GOOD, HERE, Names, fetching, moved, reply, serving


async def test_a_page_comes_whole_with_what_caches_need() -> None:
    async with (
        serving(reply(b"hello", "200 OK", 'ETag: "v1"', "Content-Type: text/plain")) as server,
        fetching() as fetcher,
    ):
        page = await fetcher.fetch(server.url("GOOD.test.", "/a?b=c#d"))
    assert (page.status, page.body, page.header("etag")) == (200, b"hello", '"v1"')
    assert str(page.url) == server.url("good.test", "/a?b=c")
    assert server.asked[0].startswith(f"GET /a?b=c HTTP/1.1\r\nHost: good.test:{server.port}\r\n")


async def test_what_has_not_changed_is_no_failure() -> None:
    async with (
        serving(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nContent-Length: 99999999\r\n\r\n') as server,
        fetching() as fetcher,
    ):
        page = await fetcher.fetch(server.url("good.test"), headers=[("If-None-Match", '"v1"')])
    assert (page.status, page.body) == (304, b"")
    assert 'If-None-Match: "v1"' in server.asked[0]


async def test_a_body_can_be_read_as_it_comes() -> None:
    async def send(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        await first.wait()
        writer.write(b"3\r\ndef\r\n0\r\n\r\n")

    first = asyncio.Event()
    async with serving(send) as server, fetching() as fetcher, fetcher.open(server.url("good.test")) as answer:
        chunks = answer.chunks()
        assert await anext(chunks) == b"abc"
        first.set()
        assert [each async for each in chunks] == [b"def"]


@pytest.mark.parametrize(
    "addresses",
    [
        *(["127.0.0.1"], ["10.0.0.8"], ["192.168.1.1"], ["169.254.169.254"], ["100.64.0.1"], ["0.0.0.0"]),
        *(["::1"], ["fe80::1"], ["fe80::1%lo"], ["fd00::1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["::7f00:1"]),
        *(["8.8.8.8", "127.0.0.1"], ["::1", "2606:4700:4700::1111"], ["2002:7f00:1::"], ["224.0.0.1"]),
    ],
)
async def test_a_name_that_leads_to_a_private_address_is_not_connected_to(addresses: Sequence[str]) -> None:
    async with serving(reply(b"secret")) as server, fetching(Names(evil=addresses)) as fetcher:
        with pytest.raises(FetchRefused, match=r"^evil.test leads to an address that is not public") as refused:
            await fetcher.fetch(server.url("evil.test"))
    assert server.asked == []
    assert not any(each in refused.value.message for each in addresses)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "localhost"])
async def test_loopback_is_refused_under_each_of_its_names(host: str) -> None:
    async with serving(reply(b"secret")) as server, fetching(Names(localhost="127.0.0.1")) as fetcher:
        with pytest.raises(FetchRefused):
            await fetcher.fetch(server.url(host))
    assert server.asked == []


async def test_what_is_refused_as_written_is_not_even_looked_up() -> None:
    names = Names()
    async with fetching(names, only=Listed(["api.example.com"], "http.allow")) as fetcher:
        for url in ("http://evil.test/", "http://127.1/", "http://api.example.com:22/", "http://api.example.com@a.b/"):
            with pytest.raises(FetchRefused):
                await fetcher.fetch(url)
    async with fetching(names) as fetcher:
        for port in (22, 25, 110, 445):
            with pytest.raises(FetchRefused, match="is not one of the web's"):
                await fetcher.fetch(f"http://good.test:{port}/")
    assert names.asked == []


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    class Rebinding(Names):
        async def __call__(self, host: str, port: int) -> Sequence[str]:
            self.asked.append(host)
            return ("127.0.0.2",) if len(self.asked) == 1 else ("127.0.0.1",)

    names = Rebinding()
    listed = Listed(["127.0.0.2"], "fetch.allowPrivate")
    async with serving(reply(b"ok")) as server, fetching(names, listed) as fetcher:
        assert (await fetcher.fetch(server.url("rebind.test"))).body == b"ok"
        assert (server.reached, names.asked) == (["127.0.0.2"], ["rebind.test"])
        with pytest.raises(FetchRefused, match="not public"):
            await fetcher.fetch(server.url("rebind.test"))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "target",
    [
        *("http://evil.test:{port}/", "http://127.0.0.1:{port}/", "//127.0.0.1:{port}/", "http://127.1:{port}/"),
        *("http://[::ffff:127.0.0.1]:{port}/", "http://169.254.169.254/latest/", "file:///etc/passwd"),
        *(
            "gopher://good.test/",
            "http://u:p@good.test:{port}/",
            "http://good.test\\@evil.test/",
            "http://2130706433:{port}/",
        ),
    ],
)
async def test_a_redirect_leads_nowhere_that_could_not_be_asked_for(target: str) -> None:
    async def send(head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(moved(target.format(port=server.port)) if "GET /start" in head else reply(b"secret"))

    async with serving(send) as server, fetching() as fetcher:
        with pytest.raises(FetchRefused):
            await fetcher.fetch(server.url("good.test", "/start"))
    assert len(server.asked) == 1


async def test_a_list_of_hosts_holds_for_redirects_too() -> None:
    async def send(head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(moved("http://other.test/") if "/a" in head else moved("/elsewhere"))

    async with serving(send) as server:
        only = Listed([f"http://good.test:{server.port}/a/", f"http://good.test:{server.port}/b/"], "http.allow")
        async with fetching(only=only) as fetcher:
            for path in ("/a/", "/b/"):
                with pytest.raises(FetchRefused, match="not among the hosts"):
                    await fetcher.fetch(server.url("good.test", path))
    assert len(server.asked) == 2


async def test_redirects_have_an_end() -> None:
    async with serving(moved("/again")) as server, fetching() as fetcher:
        with pytest.raises(FetchFailed, match="more than 5 redirects"):
            await fetcher.fetch(server.url("good.test"))
    assert len(server.asked) == 6


SECRETS = [
    ("Authorization", "Bearer s3cr3t"),
    ("Cookie", "id=s3cr3t"),
    ("X-Api-Key", "s3cr3t"),
    ("Accept", "text/html"),
]


@pytest.mark.parametrize(("host", "kept"), [("good.test", True), ("other.test", False)])
async def test_another_origin_gets_no_secrets(host: str, kept: bool) -> None:
    async def send(head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(moved(server.url(host, "/end")) if "GET /start" in head else reply(b"done"))

    async with serving(send) as server, fetching() as fetcher:
        page = await fetcher.fetch(server.url("good.test", "/start"), headers=SECRETS)
    assert (page.body, str(page.url)) == (b"done", server.url(host, "/end"))
    assert ("s3cr3t" in server.asked[1]) is kept
    assert "Accept: text/html" in server.asked[1]


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "PUT", "GET"),
        (307, "POST", "POST"),
        (308, "PUT", "PUT"),
        (301, "PUT", "PUT"),
        (303, "HEAD", "HEAD"),
        (302, "GET", "GET"),
    ],
)
async def test_methods_change_on_redirects_as_in_browsers(status: int, method: str, then: str) -> None:
    async def send(head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(moved("/end", status) if " /start " in head else reply())

    async with serving(send) as server, fetching() as fetcher:
        body = None if method in ("GET", "HEAD") else b'{"a":1}'
        headers = [("Content-Type", "application/json")] if body else []
        await fetcher.fetch(server.url("good.test", "/start"), method=method, headers=headers, body=body)
    assert server.asked[1].startswith(f"{then} /end ")
    assert ('{"a":1}' in server.asked[1], "Content-Type" in server.asked[1]) == (then == method and bool(body),) * 2


async def test_a_body_is_not_sent_on_to_another_origin() -> None:
    async with serving(moved("http://other.test:9/", 307)) as server, fetching() as fetcher:
        with pytest.raises(FetchRefused, match="redirects a POST to another origin"):
            await fetcher.fetch(server.url("good.test"), method="POST", body=b"mine")
    assert len(server.asked) == 1


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "br", "gzip, gzip", "zstd"])
async def test_what_grows_when_unpacked_is_stopped(encoding: str) -> None:
    packed = bomb(64 << 20)
    async with (
        serving(reply(packed, "200 OK", f"Content-Encoding: {encoding}")) as server,
        fetching(max_bytes=1_000_000) as fetcher,
    ):
        with pytest.raises(FetchFailed, match=r"larger than 1000000 bytes|encoding that nobody asked for|not HTTP"):
            await fetcher.fetch(server.url("good.test"))


async def test_what_is_packed_is_unpacked() -> None:
    async with (
        serving(reply(gzip.compress(b"text" * 1000), "200 OK", "Content-Encoding: gzip")) as server,
        fetching() as fetcher,
    ):
        assert (await fetcher.fetch(server.url("good.test"))).body == b"text" * 1000


@pytest.mark.parametrize(
    "head", [b"Content-Length: 9999999\r\n\r\n", b"\r\n", b"Transfer-Encoding: chunked\r\n\r\nFFFFF\r\n"]
)
async def test_a_body_is_bounded_whatever_its_head_says(head: bytes) -> None:
    async def send(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + head)
        for _part in range(100):
            writer.write(bytes(10_000))
            await writer.drain()

    async with serving(send) as server, fetching(max_bytes=100_000) as fetcher:
        with pytest.raises(FetchFailed, match="larger than 100000 bytes"):
            await fetcher.fetch(server.url("good.test"))


@pytest.mark.parametrize("slow", ["head", "header", "body", "nothing"])
async def test_whoever_drips_is_not_waited_for(slow: str) -> None:
    async def send(_: str, writer: asyncio.StreamWriter) -> None:
        done = {"head": b"", "header": b"HTTP/1.1 200 OK\r\nX: ", "body": reply(bytes(1000))[:-1000]}.get(slow, b"")
        writer.write(done)
        while slow != "nothing" and not writer.is_closing():
            writer.write(b"a" if slow != "head" else b"H")
            await asyncio.sleep(0.02)
        await asyncio.sleep(1)

    async with serving(send) as server, fetching(timeout=0.3) as fetcher:
        with pytest.raises(FetchFailed, match=r"took too long|not HTTP"):
            await fetcher.fetch(server.url("good.test"))


async def test_names_that_take_for_ever_to_resolve_are_not_waited_for() -> None:
    class Slow(Names):
        async def __call__(self, host: str, port: int) -> Sequence[str]:
            await asyncio.sleep(60)
            return ()

    async with fetching(Slow(), timeout=0.1) as fetcher:
        with pytest.raises(FetchFailed, match="took too long"):
            await fetcher.fetch("http://good.test/")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 5000 + b"\r\n",
        b"HTTP/1.1 200 " + b"O" * 100_000 + b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.0 s3cr3t\r\n",
        b"",
        b"\x00\xff\xfe\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_what_is_no_answer_fails_without_its_words(answer: bytes) -> None:
    async with serving(answer) as server, fetching() as fetcher:
        with pytest.raises(FetchFailed) as failed:
            await fetcher.fetch(server.url("good.test", "/path?key=k3y"))
    assert "good.test" in failed.value.message
    assert not any(each in failed.value.message for each in ("s3cr3t", "k3y", "127.0.0.1", "hello"))


async def test_where_nobody_is_says_so() -> None:
    async with fetching() as fetcher:
        with pytest.raises(FetchFailed, match="there is no such host"):
            await fetcher.fetch("http://nobody.test/")
        with pytest.raises(FetchFailed, match=r"http://good\.test:1024: no connection"):
            await fetcher.fetch("http://good.test:1024/")


async def test_private_hosts_can_be_allowed_link_local_ones_cannot() -> None:
    async with serving(reply(b"inside")) as server, fetching(private=True) as fetcher:
        assert (await fetcher.fetch(server.url("127.0.0.1"))).body == b"inside"
        with pytest.raises(FetchRefused):
            await fetcher.fetch("http://169.254.169.254/latest/meta-data")
    metadata = Rules(private=Listed(["good.test"], "fetch.allowPrivate"))
    fetcher = Fetcher(metadata, Limits(timeout=5), resolve=Names(good="169.254.169.254"))
    with pytest.raises(FetchRefused):
        await fetcher.fetch("http://good.test/")
    await fetcher.close()


async def test_proxies_and_logins_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(reply(b"direct")) as server, serving(reply(b"proxy")) as proxy, fetching() as fetcher:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url("127.0.0.1"))
        assert (await fetcher.fetch(server.url("good.test"))).body == b"direct"
    assert proxy.asked == []


async def test_no_cookies_are_kept() -> None:
    async with serving(reply(b"", "200 OK", "Set-Cookie: id=1")) as server, fetching() as fetcher:
        await fetcher.fetch(server.url("good.test"))
        await fetcher.fetch(server.url("good.test"))
    assert "ookie" not in server.asked[1]


async def test_certificates_are_checked_for_the_name_not_for_the_address(tmp_path: Path) -> None:
    made = make_certificate(tmp_path, "good.test")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made.certificate, made.key)
    trusted = ssl.create_default_context(cafile=str(made.certificate))
    async with serving(reply(b"secure"), context) as server:
        rules = Rules(private=GOOD)
        for name, tls, works in (("good", trusted, True), ("other", trusted, False), ("good", None, False)):
            fetcher = Fetcher(rules, Limits(timeout=5), resolve=HERE, tls=tls)
            url = f"https://{name}.test:{server.port}/"
            if works:
                assert (await fetcher.fetch(url)).body == b"secure"
            else:
                with pytest.raises(FetchFailed, match="its certificate cannot be trusted"):
                    await fetcher.fetch(url)
            await fetcher.close()


async def test_nothing_goes_from_https_to_http(tmp_path: Path) -> None:
    made = make_certificate(tmp_path, "good.test")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made.certificate, made.key)
    trusted = ssl.create_default_context(cafile=str(made.certificate))
    fetcher = Fetcher(Rules(private=GOOD), Limits(timeout=5), resolve=HERE, tls=trusted)
    async with serving(reply(b"secret")) as plain, serving(moved(plain.url("good.test")), context) as server:
        with pytest.raises(FetchRefused, match="redirects from https to http"):
            await fetcher.fetch(f"https://good.test:{server.port}/")
    await fetcher.close()
    assert plain.asked == []
