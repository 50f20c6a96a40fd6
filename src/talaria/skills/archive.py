"""Reads a zip with a skill in it, from anybody: all of it is checked before a byte of it is used. Blocks."""

import io
import stat
import zipfile
import zlib
from collections.abc import Sequence

from talaria.core.errors import InvalidRequest
from talaria.skills.entry_names import read_entry
from talaria.skills.files import LARGEST, MOST, Entries, SkillEntry, is_ignored, rooted

LARGEST_ZIP = LARGEST
MOST_ENTRIES = 4 * MOST
"""With folders, and what is ignored."""
LARGEST_DIRECTORY = MOST_ENTRIES * 512
"""Bytes of the zip's own list."""
MOST_RATIO = 200
UNSUSPECTED = 1024 * 1024
"""Bytes that may come of however few."""
_END, _END_SIZE = b"PK\x05\x06", 22
_ZIP64 = b"PK\x06\x07"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF_8 = 0x800
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_zip(data: bytes) -> Entries:
    """Return the files in a zip, seen from the folder that has SKILL.md. Zips inside stay files.

    Raises:
        InvalidRequest: it is no zip, or one that nobody should unpack; the message names the entry.
    """
    _check_frame(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            wanted = _checked(archive.infolist(), len(data))
            return rooted({path: _read(archive, info) for path, info in wanted})
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OverflowError) as error:
        raise InvalidRequest(f"the zip is broken: {str(error)[:200]}") from None


def _check_frame(data: bytes) -> None:
    """Check the zip's end, and with it how much will be read of its list."""
    if len(data) > LARGEST_ZIP:
        raise InvalidRequest(f"the zip has {len(data)} bytes; {LARGEST_ZIP} are the limit")
    if not data.startswith(b"PK\x03\x04"):
        raise InvalidRequest("it is no zip")
    at = data.rfind(_END, max(0, len(data) - _END_SIZE - 0xFFFF))
    end = data[at : at + _END_SIZE] if at >= 0 else b""
    if len(end) < _END_SIZE or at + _END_SIZE + _number(end[20:22]) != len(data):
        raise InvalidRequest("the zip has no end, or something after its end")
    if data[max(0, at - 20) : at].startswith(_ZIP64):
        raise InvalidRequest("the zip is a zip64, which only far larger ones need; make it without")
    count, size, start = _number(end[10:12]), _number(end[12:16]), _number(end[16:20])
    if start + size != at:
        raise InvalidRequest("the zip's list is not where its end says")
    if count > MOST_ENTRIES or size > LARGEST_DIRECTORY:
        raise InvalidRequest(f"the zip has {count} entries in a list of {size} bytes; {MOST_ENTRIES} are the limit")


def _number(little: bytes) -> int:
    return int.from_bytes(little, "little")


def _checked(infos: Sequence[zipfile.ZipInfo], size: int) -> list[tuple[str, zipfile.ZipInfo]]:
    """Return the files with their paths, once every entry has been looked at."""
    wanted: list[tuple[str, zipfile.ZipInfo]] = []
    seen: set[str] = set()
    for info in infos:
        path = read_entry(info.orig_filename)
        if path in seen:
            raise InvalidRequest(f"{path!r} is there twice")
        seen.add(path)
        _check_kind(info)
        if not info.is_dir() and not is_ignored(path):
            wanted.append((path, info))
    _check_places(infos)
    total = sum(info.file_size for _, info in wanted)
    if len(wanted) > MOST or total > LARGEST:
        raise InvalidRequest(f"it has {len(wanted)} files with {total} bytes; {MOST} and {LARGEST} are the limits")
    if total > max(UNSUSPECTED, MOST_RATIO * size):
        raise InvalidRequest(f"the zip's {size} bytes would become {total}: it is a bomb")
    return wanted


def _check_kind(info: zipfile.ZipInfo) -> None:
    name = repr(info.orig_filename[:200])
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFDIR and not info.is_dir()):
        raise InvalidRequest(f"{name} is a link or a device; a skill has files and folders")
    if info.flag_bits & _ENCRYPTED:
        raise InvalidRequest(f"{name} is encrypted")
    if info.compress_type not in _READABLE:
        raise InvalidRequest(f"{name} is packed in an unusual way; use deflate")
    if not info.flag_bits & _UTF_8 and not info.orig_filename.isascii():
        raise InvalidRequest(f"{name} is not marked as UTF-8; make the zip with names in UTF-8")
    if info.is_dir() and info.file_size:
        raise InvalidRequest(f"{name} is a folder with bytes of its own")


def _check_places(infos: Sequence[zipfile.ZipInfo]) -> None:
    """No entry lies over another: what is said once cannot be unpacked many times."""
    end, before = 0, ""
    for info in sorted(infos, key=lambda each: each.header_offset):
        if info.header_offset < end:
            raise InvalidRequest(f"{before!r} and {info.orig_filename[:200]!r} lie over each other")
        end = info.header_offset + 30 + len(info.orig_filename.encode()) + info.compress_size
        before = info.orig_filename[:200]


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> SkillEntry:
    """Unpack one, which is as long as was said, and whose sum is right."""
    with archive.open(info) as opened:
        data = opened.read(info.file_size)
        if len(data) != info.file_size or opened.read(1):
            raise InvalidRequest(f"{info.orig_filename[:200]!r} is not as long as the zip's list says")
    return SkillEntry(data, bool(info.external_attr >> 16 & 0o111))
