"""A skill's files in memory: bounded, named well, with one SKILL.md. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from talaria.core.errors import InvalidRequest
from talaria.skills.entry_names import check_collisions
from talaria.skills.skill_file import FILE

MOST = 1000
"""Files."""
LARGEST = 20 * 1024 * 1024
"""Bytes of all files together."""
IGNORED = ("__MACOSX", ".DS_Store", ".git")


@dataclass(frozen=True, slots=True)
class SkillEntry:
    """One file. `is_program`: it may be run."""

    data: bytes
    is_program: bool = False


Entries = Mapping[str, SkillEntry]
"""By path, with '/' between its parts."""


def is_ignored(path: str) -> bool:
    """Whether a file is one that systems leave behind and nobody means."""
    return any(part in IGNORED for part in path.split("/"))


def rooted(entries: Entries) -> Entries:
    """Return the files as seen from the folder that has SKILL.md: the root, or the one folder in it.

    Raises:
        InvalidRequest: there is none, or more than one.
    """
    check_collisions(entries)
    if FILE in entries:
        return entries
    found = sorted(path for path in entries if path.endswith(f"/{FILE}"))
    top = {path.split("/")[0] for path in entries}
    if len(found) == 1 and len(top) == 1 and found[0].count("/") == 1:
        cut = len(found[0]) - len(FILE)
        return {path[cut:]: entry for path, entry in entries.items()}
    if len(found) > 1:
        shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        raise InvalidRequest(f"there are {len(found)} skills in it: {shown}; give one skill, with {FILE} at its top")
    where = f"; it is at {found[0]}" if found else ""
    raise InvalidRequest(f"there is no {FILE} at its top, or in the one folder there{where}")


def digest_of(entries: Entries) -> str:
    """Return what tells these files from all others."""
    whole = hashlib.sha256()
    for path in sorted(entries):
        entry = entries[path]
        whole.update(f"{len(path.encode())}:{path}:{int(entry.is_program)}:{len(entry.data)}:".encode())
        whole.update(entry.data)
    return whole.hexdigest()
