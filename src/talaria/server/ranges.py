"""Conditions and ranges of a download (RFC 9110): pure functions of headers."""

import re

from starlette.datastructures import Headers

_RANGE = re.compile(r"bytes\s*=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.ASCII | re.IGNORECASE)


def is_unchanged(headers: Headers, etag: str) -> bool:
    """Whether the client has the file already (If-None-Match)."""
    known = [each.strip().removeprefix("W/") for each in headers.get("if-none-match", "").split(",")]
    return etag in known or known == ["*"]


def asked_range(headers: Headers, etag: str, size: int) -> range | None:
    """Return the one range of bytes that is asked for; None for all of them, an empty one for what is not there.

    Several ranges, and what is no range, mean all: a client must be ready for that.
    """
    found = _RANGE.fullmatch(headers.get("range", ""))
    if found is None or headers.get("if-range", etag).strip() != etag:
        return None
    first, last = found.groups()
    if not first and not last:
        return None
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(size, int(last) + 1) if last else size)
