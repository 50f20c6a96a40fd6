"""Files are handed over: all or nothing, one at a time, under whatever name."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.server.serving import Served, plain, serving
from tests.server.uploads import BOUNDARY, FORM, form, kept, left, part, upload

MOST = 300_000
NAMES = [
    "报告.pdf",
    "plan-🚀.txt",
    'a"b.txt',
    "x\r\nSet-Cookie: a=b.txt",
    "semi;colon.txt",
    "back\\slash.txt",
    "%2e%2e%2fetc",
    "e\u0301.txt",
    "n" * 255 + ".txt",
    ".htaccess",
    "...",
]
PATHS = [
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%252e%252e/x",
    "/etc/passwd",
    "a/../../other-session/secret.txt",
    "file.txt%00.png",
    "OTHER-SESSION-ID/file.txt",
    "art_00000000000000000000000000000000000000000000",
]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(None, artifacts={"url": f"file:{tmp_path}/kept", "maxBytes": MOST}) as served:
        yield served


async def test_a_file_is_taken_and_given_back(served: Served) -> None:
    said = await kept(served.client, "姓名,分\n".encode(), "表.csv")
    assert {key: value for key, value in plain(said).items() if key not in ("artifactId", "url")} == snapshot(
        {"name": "表.csv", "mimeType": "text/csv", "size": 11, "expiresAt": "TIME"}
    )
    assert said["url"] == f"/ai-api/download/{said['artifactId']}"
    assert len(said["artifactId"]) == len("art_") + 26 + 16
    answer = await served.client.get(said["url"])
    assert (answer.status, answer.body.decode()) == (200, "姓名,分\n")


@pytest.mark.parametrize("name", NAMES)
async def test_whatever_it_is_called_it_comes_back_with_one_line_of_a_header(served: Served, name: str) -> None:
    data = name.encode("utf-8") * 3
    said = await kept(served.client, data, name)
    answer = await served.client.get(said["url"])
    assert (answer.status, answer.body, said["size"]) == (200, data, len(data))
    value = answer.headers["content-disposition"]
    assert "filename*=UTF-8''" in value
    assert not set("\r\n\\") & set(value)
    assert value.isascii()
    assert value.count('"') == 2
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", PATHS)
async def test_paths_that_are_no_id_lead_nowhere(served: Served, path: str) -> None:
    answer = await served.client.get(f"/ai-api/download/{path}")
    assert answer.status == 404
    head = await served.client.request("HEAD", f"/ai-api/download/{path}")
    assert head.status == 404


async def test_two_files_of_one_name_do_not_overwrite_each_other(served: Served) -> None:
    first, second = [await kept(served.client, data, "a.txt") for data in (b"1", b"2")]
    assert (await served.client.get(first["url"])).body == b"1"
    assert (await served.client.get(second["url"])).body == b"2"


async def test_a_file_may_be_empty(served: Served) -> None:
    said = await kept(served.client, b"")
    answer = await served.client.get(said["url"])
    assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")


async def test_a_file_may_be_as_large_as_configured_and_no_larger(served: Served, tmp_path: Path) -> None:
    said = await kept(served.client, b"x" * MOST)
    assert said["size"] == MOST
    for data in (b"x" * (MOST + 1), b"x" * (MOST + 1_000_000)):
        answer = await upload(served.client, data)
        assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert len(left(tmp_path)) == 1


async def test_a_size_that_is_announced_is_refused_before_it_is_read(served: Served) -> None:
    answer = await upload(served.client, b"", headers={"content-length": str(10**12)})
    assert answer.status == 413


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (f"--{BOUNDARY}--\r\n".encode(), 422),
        (b"nonsense", 422),
        (part(b"a", "a.txt"), 422),
        (form(b"a")[:-4], 422),
        (part(b"a", "a.txt") + form(b"b"), 422),
        (part(b"a", "a.txt", field="other") + f"--{BOUNDARY}--\r\n".encode(), 422),
        (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n--{BOUNDARY}--\r\n'.encode(), 422),
        (f"--{BOUNDARY}\r\n\r\na\r\n--{BOUNDARY}--\r\n".encode(), 422),
        (f"--{BOUNDARY}\r\nX: ".encode() + b"y" * 100_000 + b"\r\n\r\na\r\n", 422),
    ],
)
async def test_a_form_with_anything_else_is_refused(served: Served, tmp_path: Path, body: bytes, status: int) -> None:
    answer = await served.client.request("POST", "/ai-api/files", body=body, headers=FORM)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json"), answer.body
    assert left(tmp_path) == []


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data", f"text/plain; boundary={BOUNDARY}"])
async def test_what_is_no_form_is_refused(served: Served, kind: str) -> None:
    answer = await served.client.request("POST", "/ai-api/files", body=form(b"a"), headers={"content-type": kind})
    assert answer.status == 415


async def test_a_client_that_goes_away_leaves_nothing(served: Served, tmp_path: Path) -> None:
    body = form(b"x" * 200_000)
    messages: list[Any] = [
        {"type": "http.request", "body": body[at : at + 1000], "more_body": True} for at in range(0, 100_000, 1000)
    ]
    sent = list[Any]()

    async def receive() -> Any:
        await asyncio.sleep(0)
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/ai-api/files", "query_string": b""}
    scope |= {"headers": [(b"host", b"localhost"), (b"content-type", FORM["content-type"].encode())]}
    await served.app(scope, receive, send)
    assert sent[0]["status"] == 422
    assert left(tmp_path) == []


async def test_files_are_taken_at_once(served: Served) -> None:
    every = [str(at).encode() * 10_000 for at in range(10)]
    said = await asyncio.gather(*(kept(served.client, data) for data in every))
    assert [(await served.client.get(each["url"])).body for each in said] == every


async def test_another_user_has_no_such_file(served: Served) -> None:
    said = (await upload(served.client, b"a", query="?userId=ann")).json
    missing = await served.client.get("/ai-api/download/art_0")
    for headers in ({}, {"range": "bytes=0-"}, {"if-none-match": "*"}):
        answer = await served.client.get(f"{said['url']}?userId=bob", headers=headers)
        assert (answer.status, answer.body, answer.headers) == (404, missing.body, missing.headers)
    body = {"query": "Look", "attachments": [{"artifactId": said["artifactId"]}]}
    assert (await served.client.post("/ai-api/chat/stream?userId=bob", body)).status == 422
    assert (await served.client.get(f"{said['url']}?userId=ann")).body == b"a"
    assert (await served.client.get(said["url"])).body == b"a"  # without a login, a link is enough


async def test_bytes_that_are_gone_are_not_found(served: Served, tmp_path: Path) -> None:
    said = await kept(served.client, b"a")
    (file,) = left(tmp_path)
    file.unlink()
    assert (await served.client.get(said["url"])).status == 404


async def test_a_place_that_cannot_be_written_to_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    async with serving(None, artifacts={"url": f"file:{tmp_path}/kept"}) as served:
        answer = await upload(served.client, b"a")
        assert (answer.status, answer.json["code"]) == (503, "overloaded")
