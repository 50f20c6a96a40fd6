"""Names of files: made fit for every system, told apart, and written into a header."""

import re
import unicodedata
from collections.abc import Collection
from urllib.parse import quote

LONGEST = 200
"""Bytes of a name: file systems take 255, and something may be added."""
NAMELESS = "file"
_BAD = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_UNQUOTED = re.compile(r"[^A-Za-z0-9 !#$&()+,.=@\[\]^_`{}~-]")


def safe_name(name: str) -> str:
    """Return a name that is one component of a path everywhere, in NFC: "_" for what is a separator or steers.

    Letters of all scripts stay. What is too long is cut before its extension.
    """
    name = _BAD.sub("_", unicodedata.normalize("NFC", name)).strip()
    if not name.strip(". _"):
        return NAMELESS
    if _RESERVED.fullmatch(name):
        name = f"_{name}"
    return _cut(name, LONGEST)


def distinct(name: str, taken: Collection[str]) -> str:
    """Return the name, or one like it that is not taken, without regard to case: "a.txt", "a-2.txt"."""
    used = {each.casefold() for each in taken}
    stem, extension = _split(name)
    number, found = 1, name
    while found.casefold() in used:
        number += 1
        mark = f"-{number}{extension}"
        found = f"{_bytes_of(stem, LONGEST - len(mark.encode()))}{mark}"
    return found


def disposition(kind: str, name: str) -> str:
    """The value of Content-Disposition (RFC 6266): a name in ASCII for old clients, and the real one (RFC 8187)."""
    plain = _UNQUOTED.sub("_", unicodedata.normalize("NFKD", name).encode("ascii", "replace").decode())
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _cut(name: str, limit: int) -> str:
    if len(name.encode()) <= limit:
        return name
    stem, extension = _split(name)
    return _bytes_of(stem, limit - len(extension.encode())) + extension


def _split(name: str) -> tuple[str, str]:
    stem, dot, extension = name.rpartition(".")
    return (stem, dot + extension) if stem.strip(".") and len(extension.encode()) <= 16 else (name, "")


def _bytes_of(text: str, limit: int) -> str:
    return text.encode()[: max(1, limit)].decode(errors="ignore")
