"""What the demo shows: reasoning dim, tool calls as cards, text as it streams; plain where there is no terminal."""

import os
import shutil
from collections.abc import Mapping
from typing import TextIO

_STYLES = {"dim": "\x1b[2m", "bold": "\x1b[1m", "green": "\x1b[32m", "red": "\x1b[31m", "cyan": "\x1b[36m"}
_RESET = "\x1b[0m"
_WIDEST = 150


def wants_style(out: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `out` is a terminal that shows colours, and whose owner wants them (https://no-color.org)."""
    return out.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class Screen:
    """Writes to one terminal or file."""

    def __init__(self, out: TextIO, *, styled: bool) -> None:
        self._out = out
        self._styled = styled
        self._width = max(40, shutil.get_terminal_size((_WIDEST, 24)).columns - 8) if styled else _WIDEST
        self._flowing = ""

    def title(self, text: str) -> None:
        """Begin a part."""
        self._line(f"\n{self._in('bold', text)}")

    def note(self, text: str) -> None:
        """Say something about what happens."""
        self._line(self._in("dim", f"  {text.replace(chr(10), chr(10) + '  ')}"))

    def event(self, text: str) -> None:
        """Say that something happened to the stream, wherever the text stands."""
        self._line(self._in("cyan", f"── {text} ──"))

    def flow(self, kind: str, text: str) -> None:
        """Go on with a flowing text; a new `kind` begins a new paragraph. Reasoning is dim."""
        if kind != self._flowing:
            self._line("" if self._flowing else None)
            self._flowing = kind
            self._write("" if self._styled or kind != "reasoning" else "(reasoning) ")
        self._write(self._in("dim", text) if kind == "reasoning" else text)

    def card(self, head: str, foot: str, *, failed: bool = False) -> None:
        """Show a tool call: what was asked, and what came of it."""
        mark = self._in("red", "✗") if failed else self._in("green", "✓")
        self._line(f"  {self._in('cyan', '╭')} {short(head, self._width)}")
        self._line(f"  {self._in('cyan', '╰')} {mark} {self._in('dim', short(foot, self._width))}")

    def check(self, text: str, detail: str, *, passed: bool) -> None:
        """Show one line of the check list."""
        mark = self._in("green", "✓") if passed else self._in("red", "✗")
        self._line(f"  {mark} {text}{self._in('dim', f' · {detail}') if detail else ''}")

    def _line(self, text: str | None) -> None:
        """Write a line of its own; None ends the flowing text only."""
        self._write("\n" if self._flowing else "")
        self._flowing = ""
        self._write("" if text is None else f"{text}\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()

    def _in(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self._styled and text else text


def short(text: str, limit: int) -> str:
    """Put a text on one line, cut where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
