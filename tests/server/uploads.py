"""Forms with a file, as browsers write them."""

from pathlib import Path
from typing import Any

from tests.server.client import Client, Reply

BOUNDARY = "----WebKitFormBoundary7MA4YWxk"
FORM = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}


def part(data: bytes, name: str, field: str = "file") -> bytes:
    """One part of a form; the name written as the URL standard says."""
    written = name.replace("\n", "%0A").replace("\r", "%0D").replace('"', "%22")
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"; filename="{written}"\r\n'
    return head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + data + b"\r\n"


def form(data: bytes, name: str = "a.txt") -> bytes:
    """A form with one file."""
    return part(data, name) + f"--{BOUNDARY}--\r\n".encode()


async def upload(
    client: Client, data: bytes, name: str = "a.txt", *, query: str = "", headers: dict[str, str] | None = None
) -> Reply:
    """Send a file."""
    return await client.request("POST", f"/ai-api/files{query}", body=form(data, name), headers=FORM | (headers or {}))


async def kept(client: Client, data: bytes, name: str = "a.txt") -> dict[str, Any]:
    """Send a file that is taken; return what the server says of it."""
    answer = await upload(client, data, name)
    assert answer.status == 201, answer.body
    return answer.json


def left(folder: Path) -> list[Path]:
    """The files that are kept in this folder."""
    return [path for path in folder.rglob("*") if path.is_file()]
