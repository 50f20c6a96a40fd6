"""What to say when a text is not in a file: where something like it is, and in what it differs."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

SEARCHED = 5000
"""Lines looked through for one that is like what was wanted."""
WIDEST = 300
_NUMBERED = re.compile(r"\s*\d+\t")
_SPACES = re.compile(r"\s+")


def unfound(text: str, wanted: str) -> str:
    """Say why `wanted` is not in `text`, as far as that can be seen."""
    said = "old_string is not in the file; nothing was changed"
    asked = wanted.strip("\r\n").splitlines() or [wanted]
    if all(_NUMBERED.match(line) for line in asked):
        return f"{said}. It has the line numbers that Read shows; leave them out"
    lines = text.split("\n")
    at = _same_but_spaces(lines, asked)
    if at is not None:
        there = "\n".join(lines[at : at + len(asked)])
        return f"{said}. Lines {at + 1} to {at + len(asked)} differ from it in spaces only:\n{there}"
    at = _like(lines, asked)
    if at is None:
        return f"{said}, and nothing like it is there; read the file again"
    there = "\n".join(f"{number + 1:>6}\t{lines[number]}" for number in range(at, min(at + len(asked) + 2, len(lines))))
    return f"{said}. Most like it is what begins at line {at + 1}:\n{there[:2000]}"


def _same_but_spaces(lines: Sequence[str], asked: Sequence[str]) -> int | None:
    wanted = [_SPACES.sub("", line) for line in asked]
    plain = [_SPACES.sub("", line) for line in lines]
    places = range(len(plain) - len(wanted) + 1)
    return next((at for at in places if plain[at] == wanted[0] and plain[at : at + len(wanted)] == wanted), None)


def _like(lines: Sequence[str], asked: Sequence[str]) -> int | None:
    """Where the longest line that was asked for would be, counted back to the first."""
    nth, longest = max(enumerate(asked), key=lambda each: len(each[1].strip()))
    some = [line[:WIDEST].strip() for line in lines[:SEARCHED]]
    found = get_close_matches(longest[:WIDEST].strip(), dict.fromkeys(some), n=1, cutoff=0.6)
    return max(0, some.index(found[0]) - nth) if found else None
