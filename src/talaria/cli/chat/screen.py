"""The screen: lines that stay, and below them a part that is painted again and again."""

import math
import os
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronised output: a terminal that knows it shows whole pictures only (https://contour-terminal.org/vt-extensions/synchronized-output/)."""

_HIDE, _SHOW, _WIPE_ABOVE = "\x1b[?25l", "\x1b[?25h", "\x1b[A\x1b[2K"


class Screen:
    """Writes to one terminal. What is painted is never higher than the terminal: only its end is shown then."""

    def __init__(self, out: TextIO, width: int | None = None, height: int | None = None) -> None:
        dumb = os.environ.get("TERM") == "dumb"
        environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}  # may change
        self.console = Console(
            file=out, width=width, height=height, highlight=False, emoji=False, markup=False, _environ=environ
        )
        self._out = out
        self._paints = not dumb
        self._widths: list[int] = []

    def say(self, text: str, style: str = "dim") -> None:
        """Write a line that stays."""
        self.show(Text(text, style))

    def show(self, what: RenderableType) -> None:
        """Write something that stays, above what is painted."""
        text = self._erased() + self._text(what)
        self._write(f"{_BEGIN}{text}{_END}" if self._paints else text)

    def paint(self, what: RenderableType) -> None:
        """Put this in the place of what was painted last."""
        if not self._paints:
            return
        lines = self._text(what).rstrip("\n").split("\n")[-max(3, self.console.height - 2) :]
        erased = self._erased()
        self._widths = [cell_len(Text.from_ansi(line).plain) for line in lines]
        self._write(f"{_BEGIN}{_HIDE}{erased}" + "\n".join(lines) + f"\n{_END}")

    def clear(self) -> None:
        """Take away what is painted, and give the cursor back."""
        self._write(self._erased() + (_SHOW if self._paints else ""))

    def _text(self, what: RenderableType) -> str:
        with self.console.capture() as captured:
            self.console.print(what)
        return captured.get()

    def _erased(self) -> str:
        """What takes away the painted lines, which a terminal that was made narrower has wrapped by now."""
        if not self._widths:
            return ""
        width = max(1, self.console.width)
        rows = sum(max(1, math.ceil(each / width)) for each in self._widths)
        self._widths = []
        # Line by line: tmux keeps in its history what is cleared from the top of the screen on.
        return "\r" + _WIPE_ABOVE * min(rows, self.console.height - 1)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
