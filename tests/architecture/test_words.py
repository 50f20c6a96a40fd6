"""Nothing in the repository speaks of the machine it was written on, holds a key, or was left half merged."""

import re

from tests.repository import relative, tracked_files

# A letter in brackets keeps a pattern from matching this file.
_FORBIDDEN = {
    "an absolute path of somebody's machine": r"(?<![\w.])/(?:[w]ork|[U]sers|[h]ome)/[\w.]",
    "a path out of the repository": r"\.\./[s]hared",
    "the number of an issue": r"(?i)\b(?:issue|fixes|closes) [#]\d",
    "a key": r"\b[s]k-[A-Za-z0-9_-]{20,}|-----BEGIN [A-Z ]*PRIVATE [K]EY",
    "a conflict marker": r"(?m)^(?:<{7}|>{7}) ",
}
_WRITTEN_BY_TOOLS = {"uv.lock"}


def text_of(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def test_no_tracked_file_holds_a_forbidden_string() -> None:
    found = [
        f"{relative(path)} holds {what}: {hit.group()}"
        for path in tracked_files()
        if relative(path) not in _WRITTEN_BY_TOOLS
        for what, pattern in _FORBIDDEN.items()
        if (hit := re.search(pattern, text_of(path.read_bytes())))
    ]
    assert found == []
