"""A real terminal for tests: tmux, with keys sent to it and its screen read."""

import os
import shlex
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from tests.polling import wait_until
from tests.services import require

LIMIT = 15.0
_ENDED = "ended with"


class Terminal:
    """A terminal with `talaria chat` in it."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._tmux = (require("tmux"), "-L", f"talaria-{uuid4().hex[:12]}", "-f", os.devnull)
        self._size = ("-x", str(width), "-y", str(height))
        self.folder = folder

    def start(self, *arguments: str, environment: Mapping[str, str]) -> None:
        """Begin the chat; when it has ended, the screen says so."""
        given = {"XDG_STATE_HOME": str(self.folder / "state"), "LC_ALL": "C.UTF-8", "EDITOR": "", "VISUAL": ""} | dict(
            environment
        )
        path = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        words = [f"{name}={value}" for name, value in (given | path).items()]
        command = shlex.join(["env", *words, sys.executable, "-m", "talaria", "chat", *arguments])
        shell = f"{command} 2> err; echo ended with $?; exec sleep 1000"
        self._run("new-session", "-d", *self._size, "-c", str(self.folder), shell)

    def keys(self, *keys: str) -> None:
        """Press keys, by their names in tmux."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text, and Enter."""
        self._run("send-keys", "-l", text)
        self._run("send-keys", "Enter")

    def resize(self, width: int, height: int) -> None:
        """Make the window larger or smaller."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def screen(self, *, whole: bool = False, colours: bool = False) -> str:
        """What the terminal shows; `whole`: with what has scrolled away."""
        options = (*(("-S", "-") if whole else ()), *(("-e",) if colours else ()))
        return self._run("capture-pane", "-p", *options)

    def shows(self, text: str, *, whole: bool = False) -> str:
        """Wait until the terminal shows this; return the screen."""

        def there() -> str:
            screen = self.screen(whole=whole)
            return screen if text in screen or _ENDED in screen else ""

        try:
            screen = wait_until(there, f"the terminal showing {text!r}", LIMIT)
            assert text in screen, f"the chat ended before it showed {text!r}"
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{self.screen(whole=True).rstrip()}\n{self.errors}") from None
        return screen

    @property
    def errors(self) -> str:
        """What the chat wrote to standard error."""
        path = self.folder / "err"
        return path.read_text() if path.exists() else ""

    def close(self) -> None:
        subprocess.run((*self._tmux, "kill-server"), check=False, capture_output=True)

    def _run(self, *arguments: str) -> str:
        return subprocess.run((*self._tmux, *arguments), check=True, capture_output=True, text=True).stdout


@contextmanager
def chat(folder: Path, *arguments: str, width: int = 80, height: int = 40, **environment: str) -> Generator[Terminal]:
    """Open a terminal in a folder, with the chat ready for a line."""
    terminal = Terminal(folder, width, height)
    terminal.start(*arguments, environment=environment)
    try:
        terminal.shows("/help lists the commands")
        terminal.shows("\n›\n")
        yield terminal
    finally:
        terminal.close()
