"""Asking at the terminal: lines with history and completion, single keys, texts in an editor."""

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


class Interrupted(Exception):
    """Ctrl-C at a prompt."""


class Left(Exception):
    """Ctrl-D at a prompt."""


class Prompts:
    """Asks the person at the terminal."""

    def __init__(self, history: Path, completer: Completer) -> None:
        self._lines = PromptSession[str](
            history=FileHistory(str(history)),
            completer=completer,
            complete_while_typing=True,
            multiline=True,
            key_bindings=_enter_sends(),
            interrupt_exception=Interrupted,
            eof_exception=Left,
        )

    async def line(self, label: str) -> str:
        """What the person wants to say; Alt-Enter begins a new line.

        Raises:
            Interrupted: Ctrl-C.
            Left: Ctrl-D.
        """
        text = FormattedText([("bold fg:ansicyan", label)])
        return await self._lines.prompt_async(
            text, prompt_continuation="  ", handle_sigint=False, set_exception_handler=False
        )

    async def key(self, label: str, keys: str) -> str:
        """One of `keys`.

        Raises:
            Interrupted: Ctrl-C, and Ctrl-D.
        """
        return await self._short(label, _one_of(keys))

    async def text(self, label: str, default: str = "") -> str:
        """A short text, without history; errors as with `key`."""
        return await self._short(label, None, default)

    async def _short(self, label: str, bindings: KeyBindings | None, default: str = "") -> str:
        session = PromptSession[str](
            key_bindings=bindings,
            interrupt_exception=Interrupted,
            eof_exception=Interrupted,
            erase_when_done=bindings is not None,
        )
        shown = FormattedText([("fg:ansiyellow", label)])
        return await session.prompt_async(shown, default=default, handle_sigint=False, set_exception_handler=False)

    async def edited(self, text: str) -> str:
        """The text as it comes back from the person's editor ($VISUAL, $EDITOR); without one, it is edited here."""
        command = editor()
        if command is None:
            return await self.text("arguments: ", " ".join(text.split("\n")))
        with tempfile.TemporaryDirectory(prefix="talaria-") as folder:
            path = Path(folder) / "arguments.json"
            await asyncio.to_thread(path.write_text, text, "utf-8")
            process = await asyncio.create_subprocess_exec(*command, str(path))
            try:
                await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
            return await asyncio.to_thread(path.read_text, "utf-8")


def editor() -> Sequence[str] | None:
    """The command of the person's editor, None where there is none."""
    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    command = shlex.split(wanted)
    return command if command and shutil.which(command[0]) else None


def is_terminal() -> bool:
    """Whether there is a person at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _enter_sends() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return bindings


def _one_of(keys: str) -> KeyBindings:
    bindings = KeyBindings()

    def add(key: str) -> None:
        @bindings.add(key)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=key)

    for each in keys:
        add(each)

    @bindings.add("<any>")
    @bindings.add("enter")
    def _(_: KeyPressEvent) -> None:
        """Any other key is no answer."""

    return bindings
