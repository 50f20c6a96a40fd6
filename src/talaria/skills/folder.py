"""Reads a skill out of a folder of this machine. Blocks."""

import os
import stat
from pathlib import Path

from talaria.core.errors import InvalidRequest
from talaria.skills.entry_names import read_entry
from talaria.skills.files import LARGEST, MOST, Entries, SkillEntry, is_ignored, rooted


def read_folder(folder: Path) -> Entries:
    """Return the files of a folder that has SKILL.md.

    Raises:
        InvalidRequest: there is no SKILL.md, a link or a device, or too much; the message names the file.
        OSError: something cannot be read.
    """
    entries: dict[str, SkillEntry] = {}
    size = 0
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not is_ignored(each))
        for name in [*folders, *sorted(names)]:
            path = Path(base) / name
            mode = path.lstat().st_mode
            said = path.relative_to(folder).as_posix()
            if stat.S_ISDIR(mode) or is_ignored(said):
                continue
            if not stat.S_ISREG(mode):
                raise InvalidRequest(f"{said!r} is a link or a device; a skill has files and folders")
            size += path.stat().st_size
            if len(entries) >= MOST or size > LARGEST:
                raise InvalidRequest(f"it has more than {MOST} files or {LARGEST} bytes")
            entries[read_entry(said)] = SkillEntry(path.read_bytes(), bool(mode & 0o111))
    return rooted(entries)
