"""A page as a model can read it: Markdown of HTML and PDF, text as it is, a refusal for the rest."""

import asyncio
import os
import subprocess
import sys

import msgspec

from talaria.core.errors import FetchFailed
from talaria.fetch import Page
from talaria.tools.web import convert
from talaria.tools.web.charset import decoded

SECONDS = 20.0
AT_ONCE = 4
MOST_HTML = 2_000_000
"""Bytes of HTML that are looked at."""
_TEXT = ("json", "xml", "javascript", "yaml", "csv", "x-sh", "toml", "rtf", "graphql", "sql")
_PASSED = ("PATH", "PYTHONPATH", "SYSTEMROOT", "LD_LIBRARY_PATH")


class Readable(msgspec.Struct, frozen=True):
    """What a page says. `links` are words and where they lead, `problem` why there is nothing."""

    text: str = ""
    title: str = ""
    links: list[tuple[str, str]] = []
    problem: str = ""


class Reader:
    """Makes pages readable; a few at once, each in a process with limits."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)

    async def read(self, page: Page) -> Readable:
        """Return what a page says.

        Raises:
            FetchFailed: it is no text, or cannot be read within the limits.
        """
        media, charset = media_type(page)
        kind = _kind(media, page.body)
        if kind == "text":
            return Readable(decoded(page.body, charset))
        if kind == "binary":
            raise FetchFailed(f"{page.url.origin} sent {len(page.body)} bytes of {media or 'an unknown type'}, no text")
        async with self._places:
            done = await asyncio.to_thread(_convert, kind, page, charset)
        if done is None or done.problem:
            why = done.problem if done is not None else f"its {kind.upper()} cannot be read within the limits"
            raise FetchFailed(f"{page.url.origin}: {why}")
        return done


def media_type(page: Page) -> tuple[str, str]:
    """Return the type of a body in small letters, and its charset as the header has it; "" for what is not said."""
    media, _, parameters = page.header("content-type").partition(";")
    named = (each.partition("=") for each in parameters.split(";"))
    charset = next((value for name, _, value in named if name.strip().lower() == "charset"), "")
    return media.strip().lower()[:100], charset.strip()[:40]


def is_text(media: str) -> bool:
    """Whether a body of this type can be shown as it is."""
    return media.startswith("text/") or any(each in media for each in _TEXT)


def _kind(media: str, body: bytes) -> str:
    start = body[:1024].lstrip().lower()
    if start.startswith(b"%pdf-"):
        return "pdf"
    if media in ("text/html", "application/xhtml+xml"):
        return "html"
    if media and media not in ("application/octet-stream", "text/plain", "application/pdf"):
        return "text" if is_text(media) else "binary"
    if not media and start.startswith((b"<!doctype html", b"<html")):
        return "html"
    return "binary" if b"\0" in body[:1024] or media == "application/pdf" else "text"


def _convert(kind: str, page: Page, charset: str) -> Readable | None:
    """Run the converter on this thread; None if it failed, or took too long or too much."""
    body = page.body if kind == "pdf" else decoded(page.body[:MOST_HTML], charset).encode("utf-8", "replace")
    command = (sys.executable, "-P", convert.__file__, kind, str(page.url))
    kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, with a file of this package
            command,
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=kept,
            timeout=SECONDS,
            check=False,
        )
        return msgspec.json.decode(done.stdout, type=Readable) if done.returncode == 0 else None
    except (subprocess.TimeoutExpired, msgspec.MsgspecError):
        return None
