"""Names of a skill's files: fit for every system, or refused. Pure."""

import unicodedata
from collections.abc import Iterable

from talaria.core.errors import InvalidRequest

DEEPEST = 16
LONGEST_PART = 200
LONGEST = 400
"""Bytes of a path."""
_RESERVED = frozenset(
    (
        "con",
        "prn",
        "aux",
        "nul",
        "conin$",
        "conout$",
        *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"),
    )
)


def read_entry(name: str) -> str:
    """Return a file's path with '/' between its parts, without '.' parts.

    Raises:
        InvalidRequest: it leads out of the folder, or there is a system on which it means something else.
    """
    if wrong := _wrong(name):
        raise InvalidRequest(f"{name[:200]!r} {wrong}")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    for part in parts:
        if wrong := _wrong_part(part):
            raise InvalidRequest(f"{name[:200]!r} {wrong}")
    if len(parts) > DEEPEST:
        raise InvalidRequest(f"{name[:200]!r} is {len(parts)} folders deep; {DEEPEST} are the limit")
    if not parts and not name.endswith("/"):
        raise InvalidRequest(f"{name[:200]!r} is no name of a file")
    return "/".join(parts)


def check_collisions(files: Iterable[str]) -> None:
    """Check that all files can be there at once, where small and capital letters are the same, too.

    Raises:
        InvalidRequest: two cannot; both are named.
    """
    taken: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in files:
        key = _folded(path)
        if key in taken:
            raise InvalidRequest(f"{taken[key]!r} and {path!r} have the same name")
        taken[key] = path
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folders.setdefault(_folded(folder), folder) != folder:
                raise InvalidRequest(f"{folders[_folded(folder)]!r} and {folder!r} have the same name")
    for key, folder in folders.items():
        if key in taken:
            raise InvalidRequest(f"{taken[key]!r} is a file, and {folder!r} a folder of the same name")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _wrong(name: str) -> str:
    if not name or name.startswith("/"):
        return "is an absolute path"
    if "\\" in name:
        return "has a backslash"
    if not all(each.isprintable() for each in name):
        return "has a character that cannot be seen"
    if len(name.encode("utf-8", "replace")) > LONGEST:
        return f"is too long; {LONGEST} bytes are the limit"
    return ""


def _wrong_part(part: str) -> str:
    if part == "..":
        return "leads out of the skill"
    if any(each in part for each in ':*?"<>|'):
        return "has a character that names of files cannot have everywhere"
    if part[-1] in ". ":
        return "has a part that ends with a dot or a space"
    if part.split(".", maxsplit=1)[0].rstrip().lower() in _RESERVED:
        return "is a device on some systems"
    if len(part.encode()) > LONGEST_PART:
        return f"has a part that is too long; {LONGEST_PART} bytes are the limit"
    return ""
