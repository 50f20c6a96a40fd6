"""Runs in the sandbox, as source given to its python3: looks for files and for text in them. Only the standard library.

It reads one JSON object from standard input and writes one to standard output. It works on Python 3.9.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}
LARGEST = 32 * 1024 * 1024
WIDEST = 500
ROOM = 200_000


class Wrong(Exception):
    """What was asked for cannot be done; the message says why."""


def place(path: str) -> str:
    """Return the path asked for, which must be in the workspace, links followed."""
    root = os.path.realpath(os.getcwd())
    asked = path[len("/workspace") :].lstrip("/") if (path + "/").startswith("/workspace/") else path
    found = os.path.realpath(os.path.join(root, asked))
    if found != root and not found.startswith(root + os.sep):
        raise Wrong(f"{path} is not in /workspace")
    if not os.path.exists(found):
        raise Wrong(f"there is no {path}")
    return found


def said(path: str) -> str:
    """Return a path as it is said."""
    rest = os.path.relpath(path, os.path.realpath(os.getcwd()))
    shown = rest.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "/workspace" if rest == "." else f"/workspace/{shown}"


def files(root: str) -> Iterator[str]:
    """Yield all files below, in order, links not followed; a file is itself."""
    if not os.path.isdir(root):
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each not in SKIPPED)
        for name in sorted(names):
            yield os.path.join(folder, name)


_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[.[^\]]*\]|[{},]|.", re.DOTALL)
_WRITTEN = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def pattern_of(pattern: str) -> re.Pattern[str]:
    """Return a regular expression for a pattern with *, ?, [...], ** and {a,b}; one without "/" is for names alone."""
    if "/" not in pattern:
        pattern = "**/" + pattern
    out, depth = "", 0
    for piece in _PIECE.findall(pattern):
        if piece in _WRITTEN:
            out += _WRITTEN[piece]
        elif len(piece) > 1:
            out += fnmatch.translate(piece)[4:-3]
        elif piece == "{" or (piece in ",}" and depth):
            depth += {"{": 1, "}": -1, ",": 0}[piece]
            out += {"{": "(?:", "}": ")", ",": "|"}[piece]
        else:
            out += re.escape(piece)
    return re.compile(out + ")" * depth, re.DOTALL)


def matching(root: str, pattern: str) -> Iterator[str]:
    """Yield the files below that fit the pattern."""
    if not pattern:
        yield from files(root)
        return
    base = root if os.path.isdir(root) else os.path.dirname(root)
    if (pattern + "/").startswith("/workspace/"):
        base, pattern = os.path.realpath(os.getcwd()), pattern[len("/workspace/") :]
    fits = pattern_of(pattern.lstrip("/") if pattern.startswith("/") else pattern)
    for path in files(root):
        if fits.fullmatch(os.path.relpath(path, base)):
            yield path


def newest_first(paths: Iterable[str]) -> list[str]:
    """Return paths, those that changed last before others."""
    dated: list[tuple[int, str]] = []
    for path in paths:
        with suppress(OSError):
            dated.append((-os.lstat(path).st_mtime_ns, path))
    return [path for _, path in sorted(dated)]


def text_of(path: str) -> str | None:
    """Return a file's text; None for one that is binary, too large, no file, or gone."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            return None
        data = file.read(LARGEST)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:8192]:
        return None
    for codec in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            pass
    return data.decode("latin-1")


def glob(asked: dict[str, Any]) -> dict[str, Any]:
    """Find files by a pattern."""
    found = newest_first(matching(place(asked["path"]), asked["pattern"]))
    return {"lines": [said(path) for path in found[: asked["limit"]]], "all": len(found)}


def grep(asked: dict[str, Any]) -> dict[str, Any]:
    """Find text in files."""
    flags = (re.IGNORECASE if asked["ignore_case"] else 0) | (re.DOTALL | re.MULTILINE if asked["multiline"] else 0)
    try:
        wanted = re.compile(asked["pattern"], flags)
    except re.error as error:
        raise Wrong(f"the pattern is no regular expression: {error}") from None
    paths = matching(place(asked["path"]), asked["glob"])
    if asked["output_mode"] != "content":
        return counted(asked, newest_first(paths), wanted)
    lines: list[str] = []
    more, room = 0, ROOM
    for path in paths:
        for line in blocks(path, hits_in(path, wanted, asked["multiline"]), asked):
            if len(lines) < asked["limit"] and room > 0:
                lines.append(line)
                room -= len(line)
            else:
                more += 1
    return {"lines": lines, "all": len(lines) + more}


def counted(asked: dict[str, Any], paths: list[str], wanted: re.Pattern[str]) -> dict[str, Any]:
    """Return the names of files in which it is, with how often in each if asked for."""
    lines: list[str] = []
    for path in paths:
        _, hits = hits_in(path, wanted, asked["multiline"])
        if hits:
            lines.append(said(path) if asked["output_mode"] == "files_with_matches" else f"{said(path)}:{len(hits)}")
    return {"lines": lines[: asked["limit"]], "all": len(lines)}


def hits_in(path: str, wanted: re.Pattern[str], multiline: bool) -> tuple[list[str], list[int]]:
    """Return the lines of a file and the numbers, from 0, of those with a match."""
    text = text_of(path)
    if text is None:
        return [], []
    lines = text[:-1].split("\n") if text.endswith("\n") else text.split("\n")
    if not multiline:
        return lines, [number for number, line in enumerate(lines) if wanted.search(line.rstrip("\r"))]
    hits: dict[int, None] = {}
    at = number = 0
    for match in wanted.finditer(text):
        number += text.count("\n", at, match.start())
        at = match.start()
        for each in range(number, min(number + match.group().rstrip("\n").count("\n") + 1, len(lines))):
            hits[each] = None
    return lines, list(hits)


def blocks(path: str, found: tuple[list[str], list[int]], asked: dict[str, Any]) -> Iterator[str]:
    """Yield the lines to show of one file: matches after ":", those around them after "-", "--" between blocks."""
    lines, hits = found
    shown, matches = -1, set(hits)
    for hit in hits:
        begin = max(hit - asked["before"], shown + 1)
        if begin > shown + 1 and shown >= 0 and (asked["before"] or asked["after"]):
            yield "--"
        for number in range(begin, min(hit + asked["after"] + 1, len(lines))):
            mark = ":" if number in matches else "-"
            line = lines[number].rstrip("\r")
            cut = line[:WIDEST] + (" […]" if len(line) > WIDEST else "")
            yield f"{said(path)}{mark}{number + 1}{mark}{cut}"
            shown = number


def main() -> None:
    """Do what is asked."""
    asked = json.load(sys.stdin)
    try:
        found = {"glob": glob, "grep": grep}[asked["do"]](asked)
    except Wrong as error:
        found = {"error": str(error)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
