"""Runs in the sandbox, as source given to its python3: puts a skill's files in place, read-only. Standard library only.

It reads a line of JSON from standard input, {"name", "files": [[path, size, is program]]}, and then their bytes. It
works on Python 3.9.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

HOME = Path(".skills")


def folders(place: Path) -> list[Path]:
    """Return a folder and all below, the deepest last; links are not followed."""
    return [Path(base) for base, _, _ in os.walk(place)]


def remove(place: Path) -> None:
    """Remove whatever is there."""
    if place.is_dir() and not place.is_symlink():
        place.chmod(0o700)
        for base, inside, _ in os.walk(place):
            for each in inside:
                if not (Path(base) / each).is_symlink():
                    (Path(base) / each).chmod(0o700)
        shutil.rmtree(place)
    elif os.path.lexists(place):
        place.unlink()


def main() -> None:
    """Make the folder beside its place, then exchange it."""
    source = sys.stdin.buffer
    asked = json.loads(source.readline())
    if HOME.is_symlink() or not HOME.is_dir():
        remove(HOME)
        HOME.mkdir()
    HOME.chmod(0o700)
    fresh = Path(tempfile.mkdtemp(dir=HOME, prefix=".new-"))
    for path, size, is_program in asked["files"]:
        file = fresh / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source.read(size))
        file.chmod(0o500 if is_program else 0o400)
    for each in reversed(folders(fresh)):
        each.chmod(0o500)
    place = HOME / asked["name"]
    for _ in range(3):  # another call may put the same skill there
        with suppress(OSError):
            remove(place)
            fresh.rename(place)
            return
    remove(fresh)
    sys.exit("the skill's folder is in use")


main()
