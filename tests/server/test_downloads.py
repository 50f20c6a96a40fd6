"""Downloads: ranges, conditions, and headers that keep what is in a file away from this server."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from talaria.testing.clock import FakeClock
from tests.artifacts.pictures import PNG
from tests.server.serving import Served, serving
from tests.server.uploads import kept, left

DIGITS = b"0123456789"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(None, artifacts={"url": f"file:{tmp_path}/kept"}) as served:
        yield served


@pytest.mark.parametrize(
    ("asked", "status", "body", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=-200", 206, DIGITS, "bytes 0-9/10"),
        ("bytes=9-9999", 206, b"9", "bytes 9-9/10"),
        ("bytes=0-9", 206, DIGITS, "bytes 0-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=5-4", 200, DIGITS, None),
        ("bytes=-", 200, DIGITS, None),
        ("bytes=0-1,3-4", 200, DIGITS, None),
        ("lines=0-1", 200, DIGITS, None),
        ("bytes=a-b", 200, DIGITS, None),
        ("bytes=0-" + "9" * 30, 200, DIGITS, None),
    ],
)
async def test_a_range(served: Served, asked: str, status: int, body: bytes | None, content_range: str | None) -> None:
    said = await kept(served.client, DIGITS)
    answer = await served.client.get(said["url"], headers={"range": asked})
    assert (answer.status, answer.headers.get("content-range")) == (status, content_range)
    if body is None:
        assert answer.headers["content-type"] == "application/problem+json"
    else:
        assert (answer.body, answer.headers["content-length"]) == (body, str(len(body)))


async def test_of_an_empty_file_no_range_is_there(served: Served) -> None:
    said = await kept(served.client, b"")
    assert (await served.client.get(said["url"], headers={"range": "bytes=0-"})).status == 416


async def test_a_range_of_another_version_is_the_whole(served: Served) -> None:
    said = await kept(served.client, DIGITS)
    etag = (await served.client.get(said["url"])).headers["etag"]
    for known, status in ((etag, 206), ('"other"', 200), (f"W/{etag}", 200)):
        answer = await served.client.get(said["url"], headers={"range": "bytes=0-0", "if-range": known})
        assert answer.status == status


async def test_what_the_client_has_is_not_sent_again(served: Served) -> None:
    said = await kept(served.client, DIGITS)
    etag = (await served.client.get(said["url"])).headers["etag"]
    for known in (etag, f"W/{etag}", f'"x", {etag}', "*"):
        answer = await served.client.get(said["url"], headers={"if-none-match": known})
        assert (answer.status, answer.body, answer.headers["etag"]) == (304, b"", etag)
    assert (await served.client.get(said["url"], headers={"if-none-match": '"x"'})).status == 200


async def test_head_says_what_get_would_send(served: Served) -> None:
    said = await kept(served.client, DIGITS)
    head = await served.client.request("HEAD", said["url"])
    get = await served.client.get(said["url"])
    assert (head.status, head.body, head.headers) == (200, b"", get.headers)


@pytest.mark.parametrize(
    ("name", "data", "kind", "how", "policy"),
    [
        ("a.html", b"<p>hi</p>", "text/html; charset=utf-8", "inline", "sandbox allow-scripts"),
        ("a.svg", b"<svg/>", "image/svg+xml; charset=utf-8", "inline", "sandbox allow-scripts"),
        ("a.xml", b"<a/>", "application/xml; charset=utf-8", "attachment", "sandbox allow-scripts"),
        ("a.xhtml", b"<a/>", "application/xhtml+xml; charset=utf-8", "attachment", "sandbox allow-scripts"),
        ("a.png", PNG, "image/png", "inline", "; sandbox"),
        ("a.png", b"<p>hi</p>", "text/plain; charset=utf-8", "inline", "; sandbox"),
        ("a.txt", b"<p>hi</p>", "text/plain; charset=utf-8", "inline", "; sandbox"),
        ("a.txt", "你好".encode("gb18030"), "text/plain; charset=gb18030", "inline", "; sandbox"),
        ("a.pdf", b"%PDF-1.4\n", "application/pdf", "inline", None),
        ("a.csv", b"a,b\n", "text/csv; charset=utf-8", "attachment", "; sandbox"),
        ("a.js", b"alert(1)", "text/javascript; charset=utf-8", "attachment", "; sandbox"),
        ("a.bin", b"\0\1", "application/octet-stream", "attachment", "; sandbox"),
        ("a.html", b"\0<p>hi</p>", "application/octet-stream", "attachment", "; sandbox"),
    ],
)
async def test_a_browser_shows_what_it_can_and_gives_it_no_rights(
    served: Served, name: str, data: bytes, kind: str, how: str, policy: str | None
) -> None:
    said = await kept(served.client, data, name)
    answer = await served.client.get(said["url"])
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"].startswith(f"{how}; ")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    said_policy = answer.headers.get("content-security-policy")
    assert said_policy is None if policy is None else (said_policy or "").endswith(policy)
    assert "allow-same-origin" not in (said_policy or "")
    saved = await served.client.get(f"{said['url']}?download=1")
    assert saved.headers["content-disposition"].startswith("attachment; ")


async def test_a_file_is_there_until_its_time_is_over(tmp_path: Path) -> None:
    clock = FakeClock()
    async with serving(None, clock=clock, artifacts={"url": f"file:{tmp_path}/kept", "ttl": 100}) as served:
        said = await kept(served.client, DIGITS)
        clock.move(99)
        assert (await served.client.get(said["url"])).status == 200
        clock.move(1)
        assert (await served.client.get(said["url"])).status == 404
        await served.runtime.parts.files.sweep()
        assert left(tmp_path) == []


async def test_without_a_ttl_files_stay(tmp_path: Path) -> None:
    clock = FakeClock()
    async with serving(None, clock=clock, artifacts={"url": f"file:{tmp_path}/kept", "ttl": None}) as served:
        said = await kept(served.client, DIGITS)
        assert "expiresAt" not in said
        clock.move(10 * 365 * 86400)
        await served.runtime.parts.files.sweep()
        assert (await served.client.get(said["url"])).body == DIGITS
