"""The fenced code blocks of Markdown files."""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

from tests.repository import ROOT, relative

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_SAME_AS = re.compile(r"\A# file: (?P<file>\S+?)(?:#(?P<region>\S+))?\n")


class Fence(NamedTuple):
    """A fenced block: its file and line, its language, its code without indentation."""

    place: str
    language: str
    code: str

    @property
    def promised(self) -> str | None:
        """What the first line `# file: examples/x.py` or `# file: examples/x.py#region` promises to show, or None.

        A region is what stands between the lines `# region NAME` and `# endregion` of the file.
        """
        match = _SAME_AS.match(self.code)
        if match is None:
            return None
        text = (ROOT / match["file"]).read_text("utf-8")
        return text if match["region"] is None else region(text, match["region"])

    @property
    def body(self) -> str:
        """The code without the line that names a file."""
        return _SAME_AS.sub("", self.code)


def region(text: str, name: str) -> str:
    """Return the lines of `text` between `# region name` and `# endregion`, without their common indentation."""
    found = re.search(rf"^ *# region {re.escape(name)}\n(.*?)^ *# endregion$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AssertionError(f"no region {name!r}")
    return textwrap.dedent(found[1])


def fences(path: Path) -> list[Fence]:
    """Return the fenced blocks of a Markdown file in order."""
    text = path.read_text("utf-8")
    return [
        Fence(f"{relative(path)}:{text.count(chr(10), 0, found.start()) + 1}", found["language"], dedented(found))
        for found in _FENCE.finditer(text)
    ]


def dedented(found: re.Match[str]) -> str:
    """Return the code of a block without the indentation of its fence."""
    return re.sub(rf"^{found['indent']}", "", found["code"], flags=re.MULTILINE)
