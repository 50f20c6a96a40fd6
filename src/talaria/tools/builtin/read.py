"""Read: a file of the workspace, as numbered lines, as a picture, or as the text of a PDF."""

import asyncio
import base64
from typing import Any

from talaria.core.errors import InvalidRequest
from talaria.core.messages import Image, ToolMessage
from talaria.ports.sandbox import Sandbox
from talaria.tools.builtin import pdf
from talaria.tools.builtin.pictures import LARGEST, picture_type, read_picture
from talaria.tools.builtin.places import full, read_at_most, sandbox_of, size_of
from talaria.tools.builtin.text_files import read_text
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool
from talaria.tools.result import Pictured

LINES = 2000
LONGEST_LINE = 2000
NOTES = 300
"""Characters kept free for what is said about a page."""
READABLE = 16 * 1024 * 1024
"""Bytes of a file in which lines can be read."""
SHOWN = 16_000_000
"""Characters of pictures in one conversation: providers take requests of about twice that."""


class Read:
    """Reads files; a page of text has at most `most` characters."""

    def __init__(self, most: int) -> None:
        self._most = most

    async def __call__(
        self, file_path: str, ctx: ToolContext, offset: int | None = None, limit: int | None = None
    ) -> str | Pictured:
        """Return what is in the file."""
        sandbox = sandbox_of(ctx)
        data = await read_at_most(sandbox, file_path, READABLE)
        if picture_type(data):
            return _shown(data, full(file_path), ctx)
        if data.startswith(b"%PDF-"):
            return await self._pages(data, offset, limit)
        page = await asyncio.to_thread(text_page, data, offset or 1, limit or LINES, self._most)
        return await _binary(sandbox, file_path, data) if page is None else page

    async def _pages(self, data: bytes, offset: int | None, limit: int | None) -> str:
        if len(data) >= pdf.LARGEST:
            raise InvalidRequest(f"the PDF has more than {pdf.LARGEST} bytes; take it apart with a program first")
        first = offset or 1
        total, texts = await pdf.pdf_page_texts(data, first, limit or pdf.PAGES, self._most)
        if first > total:
            raise InvalidRequest(f"the PDF has {total} pages; offset is the first page to read")
        if not any(text.strip() for _, text in texts):
            return f"[pages {first} to {texts[-1][0]} of {total} have no text; they may be scanned pictures]"
        said = "\n\n".join(f"[page {number} of {total}]\n{text}" for number, text in texts)
        last = texts[-1][0]
        return said if last == total else f"{said}\n\n[go on with offset={last + 1}]"


def text_page(data: bytes, first: int, count: int, most: int) -> str | None:
    """Return numbered lines from line `first` on, and what should be known about them; None for a binary file."""
    if not data:
        return "[the file is empty]"
    is_whole = len(data) < READABLE
    file = read_text(data, is_whole=is_whole)
    if file is None:
        return None
    lines = file.text.removesuffix("\n").split("\n")
    if first > len(lines):
        raise InvalidRequest(f"the file has {len(lines)} lines; offset is the first line to read")
    shown: list[str] = []
    for number, line in enumerate(lines[first - 1 : first - 1 + count], first):
        written = f"{number:>6}\t{_cut(line.removesuffix(chr(13)))}"
        most -= len(written) + 1
        if most < 0 and shown:
            break
        shown.append(written)
    last = first - 1 + len(shown)
    notes = [file.note] if file.note else []
    if last < len(lines):
        notes.append(f"lines {first} to {last} of {len(lines)}; go on with offset={last + 1}")
    if not is_whole:
        notes.append(f"only the first {READABLE} bytes of the file can be read here; use sed or tail for the rest")
    return "\n".join([*shown, *(f"[{note}]" for note in notes)])


def _cut(line: str) -> str:
    rest = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]}[… {rest} more characters in this line]" if rest > 0 else line


def _shown(data: bytes, path: str, ctx: ToolContext) -> Pictured:
    """A picture, if it is one: a provider that refuses it would refuse the whole conversation from then on."""
    picture = read_picture(data) if len(data) <= LARGEST else None
    if picture is None:
        raise InvalidRequest(
            f"{path} ({picture_type(data)}, {len(data)} bytes) cannot be shown: it is broken, or larger than "
            f"{LARGEST} bytes or 8000 pixels; make a smaller one of it"
        )
    image = Image(picture.media_type, base64.b64encode(data).decode())
    results = [message for message in ctx.session.messages if isinstance(message, ToolMessage)]
    if sum(len(each.data) for result in results for each in result.images) + len(image.data) > SHOWN:
        raise InvalidRequest("this conversation has too many pictures already; no more can be shown in it")
    about = f"{picture.media_type}, {picture.width} x {picture.height} pixels, {len(data)} bytes"
    return Pictured(f"The picture {path} ({about}):", (image,))


async def _binary(sandbox: Sandbox, path: str, data: bytes) -> str:
    size = len(data) if len(data) < READABLE else await size_of(sandbox, path)
    about = f"{_kind(data)}{'' if size is None else f', {size} bytes'}"
    return f"[{full(path)} is binary ({about}); look at it with a program that knows its kind]"


_MAGIC = (
    (b"PK\x03\x04", "a zip archive, or an office document"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "Parquet"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"OggS", "Ogg"),
    (b"ID3", "MP3"),
)


def _kind(data: bytes) -> str:
    if data[4:8] == b"ftyp":
        return "MP4 or the like"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), "unknown kind")


def read_tool(most: int, *, reaches_out: bool) -> Tool[..., Any]:
    """Make the tool; `most` is the limit of results in characters."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "minLength": 1, "description": "Absolute, or relative to /workspace."},
            "offset": {"type": "integer", "minimum": 1, "description": "The first line, or page of a PDF, to read."},
            "limit": {"type": "integer", "minimum": 1, "description": f"Lines ({LINES}) or pages ({pdf.PAGES})."},
        },
        "required": ["file_path"],
        "additionalProperties": False,
    }
    description = (
        "Read a file in /workspace: text as lines with their numbers, a picture (PNG, JPEG, GIF, WebP) as one that you "
        "see, a PDF as the text of its pages."
    )
    return Tool(
        "Read",
        description,
        parameters,
        Read(max(most - NOTES, 1)),
        group="files",
        side_effects=False,
        untrusted=reaches_out,
        breaker=False,
        source="builtin",
    )
