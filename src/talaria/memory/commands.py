"""What can be done with a memory: the commands of Anthropic's memory tool, as functions of its files. Pure.

See https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool: models know these words.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from talaria.core.errors import InvalidRequest
from talaria.memory.files import ROOT, File, Files, below, read_path, shown


class Done(msgspec.Struct, frozen=True, gc=False):
    """What came of a command: the files as they are now, and what the model is told.

    `is_data`: that is what files say. `untrusted`: of one that was written after content from outside was read.
    """

    files: Files
    text: str
    is_data: bool = False
    untrusted: bool = False


class Writing(msgspec.Struct, frozen=True, gc=False):
    """When something is written (ms), and whether content from outside has been read before."""

    at: int
    untrusted: bool = False

    def file(self, text: str, before: File | None = None) -> File:
        """The file with this text, in place of another one."""
        return File(text, self.at, self.untrusted or (before is not None and before.untrusted))


def run_command(files: Files, writing: Writing, command: str, given: Mapping[str, Any]) -> Done:
    """Run a command with the arguments that it takes.

    Raises:
        InvalidRequest: one is missing, or what it asks for cannot be done; nothing has changed.
    """
    run, needed, optional = COMMANDS[command]
    missing = [name for name in needed if given.get(name) is None]
    if missing:
        raise InvalidRequest(f"{command} takes {' and '.join(needed)}; there is no {' and no '.join(missing)}")
    return run(files, writing, **{name: given[name] for name in (*needed, *optional) if given.get(name) is not None})


def _view(files: Files, writing: Writing, path: str, view_range: list[int] | None = None) -> Done:
    del writing
    name = read_path(path)
    if name in files:
        return _view_file(files, name, view_range)
    inside = below(files, name)
    if name and not inside:
        raise InvalidRequest(f"the path {shown(name)} does not exist; view {ROOT} lists what does")
    lines = [f"{shown(each)} ({file.size} bytes)" for each, file in inside.items()]
    text = "\n".join([f"Files in {shown(name)}:", *lines]) if lines else f"{ROOT} is empty."
    return Done(files, text, bool(lines), any(file.untrusted for file in inside.values()))


def _view_file(files: Files, name: str, view_range: list[int] | None) -> Done:
    lines = files[name].text.split("\n")
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else last
    if not 1 <= first <= last or first > len(lines):
        raise InvalidRequest(f"view_range: {shown(name)} has lines 1 to {len(lines)}; [first, last], -1 for the end")
    numbered = [f"{number:6}\t{line}" for number, line in enumerate(lines[first - 1 : last], first)]
    text = "\n".join([f"{shown(name)}, with line numbers:", *numbered])
    return Done(files, text, is_data=True, untrusted=files[name].untrusted)


def _create(files: Files, writing: Writing, path: str, file_text: str) -> Done:
    name = _new(files, path)
    return Done({**files, name: writing.file(file_text)}, f"{shown(name)} is kept.")


def _str_replace(files: Files, writing: Writing, path: str, old_str: str, new_str: str = "") -> Done:
    name, file = _existing(files, path)
    count = file.text.count(old_str) if old_str else 0
    if count != 1:
        where = "is not in" if not count else f"is {count} times in"
        raise InvalidRequest(f"old_str {where} {shown(name)}; it must be there once, word for word. Nothing changed")
    return Done({**files, name: writing.file(file.text.replace(old_str, new_str), file)}, f"{shown(name)} is changed.")


def _insert(files: Files, writing: Writing, path: str, insert_line: int, insert_text: str) -> Done:
    name, file = _existing(files, path)
    lines = file.text.split("\n")
    if not 0 <= insert_line <= len(lines):
        raise InvalidRequest(f"insert_line: {shown(name)} has {len(lines)} lines; 0 is before the first")
    lines[insert_line:insert_line] = insert_text.removesuffix("\n").split("\n")
    return Done({**files, name: writing.file("\n".join(lines), file)}, f"{shown(name)} is changed.")


def _delete(files: Files, writing: Writing, path: str) -> Done:
    del writing
    name, gone = _there(files, path)
    kept = {each: file for each, file in files.items() if each not in gone}
    return Done(kept, f"{shown(name)} is deleted.")


def _rename(files: Files, writing: Writing, old_path: str, new_path: str) -> Done:
    """A name that is given after content from outside was read makes a file untrusted, too."""
    name, moved = _there(files, old_path)
    kept = {each: file for each, file in files.items() if each not in moved}
    new = _new(kept, new_path)
    placed = {
        read_path(shown(new + each.removeprefix(name))): File(file.text, file.at, file.untrusted or writing.untrusted)
        for each, file in moved.items()
    }
    return Done(kept | placed, f"{shown(name)} is now {shown(new)}.")


def _new(files: Files, path: str) -> str:
    """The path of a file or folder that is not there yet; what stands above it are folders."""
    name = read_path(path)
    if not name or name in files or below(files, name):
        raise InvalidRequest(f"{shown(name)} already exists; change it with str_replace or insert, or delete it first")
    above = name.split("/")[:-1]
    for end in range(1, len(above) + 1):
        if (folder := "/".join(above[:end])) in files:
            raise InvalidRequest(f"{shown(folder)} is a file, and no folder")
    return name


def _existing(files: Files, path: str) -> tuple[str, File]:
    name = read_path(path)
    if name not in files:
        raise InvalidRequest(f"there is no file {shown(name)}; view {ROOT} lists what there is")
    return name, files[name]


def _there(files: Files, path: str) -> tuple[str, Files]:
    """A file, or all those in a folder."""
    name = read_path(path)
    found = {name: files[name]} if name in files else below(files, name)
    if not name or not found:
        raise InvalidRequest(f"the path {shown(name)} cannot be moved or deleted; view {ROOT} lists what there is")
    return name, found


COMMANDS: dict[str, tuple[Callable[..., Done], tuple[str, ...], tuple[str, ...]]] = {
    "view": (_view, ("path",), ("view_range",)),
    "create": (_create, ("path", "file_text"), ()),
    "str_replace": (_str_replace, ("path", "old_str"), ("new_str",)),
    "insert": (_insert, ("path", "insert_line", "insert_text"), ()),
    "delete": (_delete, ("path",), ()),
    "rename": (_rename, ("old_path", "new_path"), ()),
}
"""Each with the arguments that it must have, and those that it may."""
