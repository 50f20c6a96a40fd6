"""Of which type a file is: its content says so, and its name only where the content agrees."""

import codecs
from collections.abc import Callable
from mimetypes import MimeTypes
from typing import NamedTuple, cast

import filetype

HEAD = 8192
"""Bytes of the beginning that are looked at."""
BINARY = "application/octet-stream"
PLAIN = "text/plain"
_TEXTS = {
    "htm": "text/html",
    "html": "text/html",
    "xhtml": "application/xhtml+xml",
    "svg": "image/svg+xml",
    "xml": "application/xml",
    "css": "text/css",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "json": "application/json",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "md": "text/markdown",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}
"""What text may be by its name."""
_OFFICE = "application/vnd.openxmlformats-officedocument."
_DOCUMENT = "application/vnd.oasis.opendocument."
_ARCHIVES = {
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "pptx": f"{_OFFICE}presentationml.presentation",
    "odt": f"{_DOCUMENT}text",
    "ods": f"{_DOCUMENT}spreadsheet",
    "odp": f"{_DOCUMENT}presentation",
    "epub": "application/epub+zip",
}
"""What an archive may be by its name."""
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")
_SHOWN = frozenset(("application/pdf", "application/xhtml+xml", "application/xml", "application/javascript"))
_NAMED = MimeTypes(filenames=())
_guess = cast("Callable[[bytes], str | None]", filetype.guess_mime)


class Media(NamedTuple):
    """A media type, and the charset of text."""

    type: str
    charset: str = ""

    @property
    def is_text(self) -> bool:
        """Whether it can be read as text."""
        return bool(self.charset)


def media_of(name: str, head: bytes) -> Media:
    """Return the type of a file with this name that begins with `head` (all of it, where it is shorter than HEAD)."""
    extension = name.rpartition(".")[2].casefold()
    if not head:
        return Media(_TEXTS.get(extension, PLAIN), "utf-8")
    if not head.startswith(b"%PDF-") and (charset := charset_of(head)):
        return Media(_TEXTS.get(extension, PLAIN), charset)
    kind = _guess(head)
    if kind == "application/zip":
        return Media(_ARCHIVES.get(extension, kind))
    return Media(kind or _application(extension) or BINARY)


def charset_of(head: bytes) -> str:
    """The charset of what looks like text, or an empty string: UTF-8, UTF-16 with its mark, else GB 18030."""
    for mark, charset in _BOMS:
        if head.startswith(mark):
            return charset if _decodes(head, charset) else ""
    if not _CONTROLS.isdisjoint(head):
        return ""
    return next((each for each in ("utf-8", "gb18030") if _decodes(head, each)), "")


def _decodes(head: bytes, charset: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(charset)().decode(head, final=len(head) < HEAD)
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def _application(extension: str) -> str:
    """What a name says of content that nobody knows: believed only where no browser would show it."""
    named = _NAMED.guess_type(f"x.{extension}")[0] or ""
    return named if named.startswith("application/") and named not in _SHOWN else ""
