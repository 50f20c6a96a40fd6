"""Skills by their content, in a bounded folder: one file each, so that nothing in them names a file here. Blocks."""

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from talaria.core.errors import NotFound
from talaria.core.skills import Skill
from talaria.skills.files import Entries, SkillEntry, digest_of

MOST_BYTES = 1024 * 1024 * 1024
YOUNG = 600.0
"""Seconds for which what has just been used is kept, whatever there is: a run is about to use it."""

_encode = msgspec.msgpack.Encoder().encode
_entries = msgspec.msgpack.Decoder(dict[str, SkillEntry]).decode


class Download(msgspec.Struct, frozen=True):
    """What a URL led to, when it was asked last (in ms), and how to ask whether it is still the same."""

    skill: Skill
    checked: int
    etag: str = ""
    modified: str = ""


_download = msgspec.json.Decoder(Download).decode


class Shelf:
    """What was not used for longest goes first. Several processes may share the folder."""

    def __init__(self, root: Path, most: int = MOST_BYTES) -> None:
        self._root = root
        self._most = most

    def put(self, digest: str, entries: Entries) -> None:
        """Keep a skill's files."""
        self._write(digest, _encode(entries))
        self._tidy()

    def has(self, digest: str) -> bool:
        """Whether they are here; they count as used now."""
        try:
            os.utime(self._root / digest)
        except FileNotFoundError:
            return False
        return True

    def get(self, digest: str) -> Entries:
        """Return a skill's files.

        Raises:
            NotFound: they are not here any more, or not whole.
        """
        try:
            entries = _entries((self._root / digest).read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            entries = None
        if entries is None or digest_of(entries) != digest:
            (self._root / digest).unlink(missing_ok=True)
            raise NotFound("the skill's files are not kept here any more; the next request that brings it gets it anew")
        return entries

    def note(self, url: str, download: Download) -> None:
        """Remember what a URL led to."""
        self._write(_place(url), msgspec.json.encode(download))

    def noted(self, url: str) -> Download | None:
        """Return what a URL led to, if its files are here."""
        try:
            found = _download((self._root / _place(url)).read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return found if self.has(found.skill.digest) else None

    def _write(self, name: str, data: bytes) -> None:
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=self._root, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(temporary).replace(self._root / name)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def _tidy(self) -> None:
        """Remove what is too much."""
        now, found = time.time(), list[tuple[float, int, Path]]()
        for path in self._root.iterdir():
            with suppress(FileNotFoundError):
                state = path.stat()
                found.append((state.st_mtime, state.st_size, path))
        size = sum(each for _, each, _ in found)
        for used, each, path in sorted(found):
            if size <= self._most or used > now - YOUNG:
                return
            path.unlink(missing_ok=True)
            size -= each


def _place(url: str) -> str:
    return f"url-{hashlib.sha256(url.encode()).hexdigest()}"
