"""Zips for tests, good and bad ones."""

import io
import stat
import zipfile

MD = b"---\nname: good-skill\ndescription: Does good. Use it when good is needed.\n---\nDo good.\n"


def skill_md(
    name: str = "good-skill", description: str = "Does good.", more: str = "", body: str = "Do good."
) -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n".encode()


def zipped(*entries: str | tuple[str, bytes] | tuple[zipfile.ZipInfo, bytes], md: bytes | None = MD) -> bytes:
    """A zip with SKILL.md and these; a name alone has a short text."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        if md is not None:
            archive.writestr("SKILL.md", md)
        for entry in entries:
            name, data = (entry, b"" if entry.endswith("/") else b"text") if isinstance(entry, str) else entry
            archive.writestr(name, data)
    return made.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


LINK = stat.S_IFLNK | 0o777
DEVICE = stat.S_IFCHR | 0o666
