"""Files: taken from people, and handed to their owners."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from talaria.artifacts.artifact import Artifact
from talaria.artifacts.files import TooLarge
from talaria.core.errors import InvalidRequest
from talaria.journal.views import iso_time
from talaria.server.call import Call, reply
from talaria.server.file_headers import file_headers
from talaria.server.form import Form
from talaria.server.problems import Refused
from talaria.server.ranges import asked_range, is_unchanged

ENVELOPE = 16 * 1024
"""Bytes of a form beside the file."""


async def upload(call: Call) -> Response:
    """Keep a file; it can then be attached to a turn, and downloaded."""
    files, principal = call.parts.files, call.principal
    length = call.request.headers.get("content-length", "0")
    if length.isdigit() and int(length[:18]) > files.max_bytes + ENVELOPE:
        raise _too_large(files.max_bytes)
    form = Form(call.request)
    try:
        saved = await files.save(principal, await form.begin(), form.data())
    except TooLarge:
        raise _too_large(files.max_bytes) from None
    return reply(file_view(saved), 201)


async def download(call: Call) -> Response:
    """A file, or the part of it that is asked for."""
    files, request = call.parts.files, call.request
    artifact = await files.find(call.principal, call.path("artifactId"))
    headers = file_headers(artifact, as_attachment=call.query("download") == "1")
    if is_unchanged(request.headers, headers["ETag"]):
        return Response(None, 304, headers)
    if request.method == "HEAD":
        return Response(None, 200, {**headers, "Content-Length": str(artifact.size)})
    part = asked_range(request.headers, headers["ETag"], artifact.size)
    if part is None:
        whole = {"Content-Length": str(artifact.size)}
        return await _sent(files.read(artifact), 200, headers | whole)
    if not part:
        unsatisfied = {"Content-Range": f"bytes */{artifact.size}"}
        raise Refused(416, f"the file has {artifact.size} bytes; none of them is in that range", unsatisfied)
    headers |= {
        "Content-Length": str(len(part)),
        "Content-Range": f"bytes {part.start}-{part.stop - 1}/{artifact.size}",
    }
    return await _sent(files.read(artifact, part.start, part.stop), 206, headers)


def file_view(artifact: Artifact) -> dict[str, str | int]:
    """A file as the wire has it."""
    view: dict[str, str | int] = {"artifactId": artifact.id, "name": artifact.name, "mimeType": artifact.media_type}
    view |= {"size": artifact.size, "url": artifact.url}
    return view | ({"expiresAt": iso_time(artifact.expires)} if artifact.expires else {})


class _Sent(StreamingResponse):
    """Bytes as they are read; the file is closed however this ends."""

    def __init__(self, first: bytes, rest: AsyncGenerator[bytes], status: int, headers: dict[str, str]) -> None:
        super().__init__(_joined(first, rest), status, headers)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._rest):
            await super().__call__(scope, receive, send)


async def _sent(pieces: AsyncGenerator[bytes], status: int, headers: dict[str, str]) -> Response:
    """An answer with these bytes; the first are read before anything is said, so that what is gone is said to be."""
    return _Sent(await anext(pieces, b""), pieces, status, headers)


async def _joined(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    yield first
    async for piece in rest:
        yield piece


def _too_large(limit: int) -> InvalidRequest:
    return Refused(413, f"a file may have {limit} bytes, and this one has more", {"Connection": "close"})
