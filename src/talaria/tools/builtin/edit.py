"""Edit: one piece of a file's text replaced by another. What is not certain changes nothing."""

import asyncio
from typing import Any
from weakref import WeakValueDictionary

from talaria.core.errors import InvalidRequest
from talaria.ports.sandbox import Sandbox
from talaria.tools.builtin.places import full, read_at_most, sandbox_of
from talaria.tools.builtin.text_files import FileText, read_text
from talaria.tools.builtin.unfound import unfound
from talaria.tools.context import ToolContext
from talaria.tools.declaration import Tool

LARGEST = 8 * 1024 * 1024
"""Bytes of a file that can be edited."""
AROUND = 3
"""Lines shown before and after a change."""
MOST_SHOWN = 60


class Edit:
    """Edits files, one at a time in each session: subagents share the workspace."""

    def __init__(self) -> None:
        self._busy: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(
        self, file_path: str, old_string: str, new_string: str, ctx: ToolContext, replace_all: bool = False
    ) -> str:
        """Replace the text and show what stands there now."""
        async with self._busy.setdefault(ctx.session.key.path, asyncio.Lock()):
            sandbox = sandbox_of(ctx)
            data = await _read(sandbox, file_path)
            changed, said = await asyncio.to_thread(edited, data, old_string, new_string, every=replace_all)
            if await _read(sandbox, file_path) != data:
                raise InvalidRequest(
                    "the file was changed by something else meanwhile; nothing was replaced. Try again"
                )
            await sandbox.write(file_path, changed)
        return f"Edited {full(file_path)}: {said}"


async def _read(sandbox: Sandbox, path: str) -> bytes:
    data = await read_at_most(sandbox, path, LARGEST)
    if len(data) >= LARGEST:
        raise InvalidRequest(f"the file has {LARGEST} bytes or more; change it with a program")
    return data


def edited(data: bytes, old: str, new: str, *, every: bool = False) -> tuple[bytes, str]:
    """Return the file with `old` replaced, its encoding and ends of lines kept, and what is said of that.

    Raises:
        InvalidRequest: the text is not there, or more than once and not `every` one is meant; or it is no text.
    """
    file = _text(data)
    old, new = _line_ends(file.text, old, new)
    if old == new:
        raise InvalidRequest("old_string and new_string are the same; nothing to change")
    count = file.text.count(old)
    if count == 0:
        raise InvalidRequest(unfound(file.text, old))
    if count > 1 and not every:
        raise InvalidRequest(
            f"old_string is there {count} times, in lines {_places(file.text, old)}; give more of the text around the "
            "one that is meant, or set replace_all"
        )
    at = file.text.index(old)
    text = file.text.replace(old, new)
    try:
        changed = file.with_text(text)
    except UnicodeEncodeError as error:
        odd = error.object[error.start : error.start + 1]
        raise InvalidRequest(
            f"the file is {file.note}, which has no '{odd}'; make it UTF-8 first, with iconv, or do without"
        ) from error
    times = f"replaced {count} times, first here" if count > 1 else "replaced"
    return changed, f"{times}:\n{_around(text, at, len(new))}"


def _text(data: bytes) -> FileText:
    file = read_text(data)
    if file is None:
        raise InvalidRequest("the file is binary; change it with a program")
    if file.with_text(file.text) != data:
        raise InvalidRequest("the file's encoding is not kept when it is written again; change it with a program")
    return file


def _line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """Both with the ends of lines that the file has, if all are alike."""
    if not old:
        raise InvalidRequest("old_string is empty; use Write to make a file")
    windows, lines = text.count("\r\n"), text.count("\n")
    if windows not in (0, lines):
        return old, new
    end = "\r\n" if windows else "\n"
    return tuple(each.replace("\r\n", "\n").replace("\n", end) for each in (old, new))  # pyright: ignore[reportReturnType]


def _places(text: str, old: str) -> str:
    """The numbers of the lines in which it begins, a few of them."""
    found: list[str] = []
    at = text.find(old)
    while at >= 0 and len(found) < 10:
        found.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + len(old))
    return ", ".join(found) + (", …" if at >= 0 else "")


def _around(text: str, at: int, length: int) -> str:
    """The changed lines and those around them, with their numbers."""
    lines = text.split("\n")
    first = text.count("\n", 0, at)
    last = text.count("\n", 0, at + length)
    begin, end = max(0, first - AROUND), min(len(lines), last + AROUND + 1)
    shown = [f"{number + 1:>6}\t{lines[number].rstrip(chr(13))[:500]}" for number in range(begin, end)]
    if len(shown) > MOST_SHOWN:
        shown[MOST_SHOWN // 2 : -MOST_SHOWN // 2] = ["     …"]
    return "\n".join(shown)


def edit_tool() -> Tool[..., Any]:
    """Make the tool."""
    return Tool(
        "Edit",
        "Replace text in a file in /workspace. old_string must be exactly what is in the file, spaces included and "
        "line numbers not, and must be there once, unless replace_all is set.",
        {
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "minLength": 1, "description": "Absolute, or relative to /workspace."},
                "old_string": {"type": "string", "minLength": 1, "description": "The text to replace."},
                "new_string": {"type": "string", "description": "What it becomes; empty deletes it."},
                "replace_all": {"type": "boolean", "default": False, "description": "Replace it wherever it is."},
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": False,
        },
        Edit(),
        group="files",
        outside=False,
        breaker=False,
        source="builtin",
    )
