"""Transcripts: each round's request, answer and results as files, for whoever wants to read what a model saw."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any
from urllib.parse import quote

import msgspec
import structlog

from talaria.core.ids import SessionKey
from talaria.core.messages import Message, UserMessage
from talaria.core.redaction import Redactor
from talaria.journal.entries import AnyEntry, ModelFinished, RunFinished, ToolFinished
from talaria.journal.transcript import wire_message
from talaria.ports.model import ModelRequest

LONGEST = 200
"""Bytes in a file's name."""

_log = structlog.get_logger("talaria.transcripts")


class Transcripts:
    """Writes `<folder>/<tenant>/<user>/<session>/<run>/<round>.<what>.json`, on a thread of its own, secrets masked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: SimpleQueue[tuple[Path, Any, Redactor] | None] = SimpleQueue()
        self._redactors: dict[str, Redactor] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._thread = Thread(target=self._work, name="talaria-transcripts", daemon=True)
        self._thread.start()

    def request(self, key: SessionKey, task: str, round_: int, request: ModelRequest, redactor: Redactor) -> None:
        """A round begins: keep what the model is asked."""
        self._redactors[request.run_id] = redactor
        prompt = request.prompt
        content = {
            "model": request.model,
            "system": prompt.system,
            "tools": [msgspec.to_builtins(tool) for tool in prompt.tools],
            "messages": [_asked(message) for message in prompt.messages],
        }
        self._write(key, request.run_id, f"{_name(task, round_)}.request", content)

    def entries(self, key: SessionKey, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        """Entries have become durable: keep answers and results."""
        for _, entry in placed:
            match entry:
                case ModelFinished():
                    content = {"answer": wire_message(entry.message), "usage": msgspec.to_builtins(entry.usage)}
                    content |= {"finish": entry.error or entry.finish, "ms": entry.duration_ms}
                    name = self._names[entry.run, entry.task] = _name(entry.task, entry.round)
                    self._write(key, entry.run, f"{name}.answer", content)
                case ToolFinished():
                    content = {
                        "tool": entry.name,
                        "outcome": entry.outcome,
                        "ms": entry.duration_ms,
                        "text": entry.text,
                    }
                    name = self._names.get((entry.run, entry.task)) or _name(entry.task, 0)
                    self._write(key, entry.run, f"{name}.result.{quote(entry.call_id, safe='')[:80]}", content)
                case RunFinished():
                    self._redactors.pop(entry.run, None)
                    self._names = {key: name for key, name in self._names.items() if key[0] != entry.run}
                case _:
                    pass

    def forget(self, key: SessionKey) -> None:
        """The session, or turn without memory, is deleted: its files go too."""
        parts = (key.tenant, key.user, key.assistant, key.session, *((key.run,) if key.run else ()))
        self._jobs.put((self._folder.joinpath(*(_file_name(part) for part in parts)), None, Redactor({})))

    def close(self) -> None:
        """Finish writing."""
        self._jobs.put(None)
        self._thread.join(timeout=5)

    def _write(self, key: SessionKey, run: str, name: str, content: Any) -> None:
        parts = (key.tenant, key.user, key.assistant, key.session, run)
        folder = self._folder.joinpath(*(_file_name(part) for part in parts))
        self._jobs.put((folder / f"{name}.json", content, self._redactors.get(run) or Redactor({})))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            path, content, redactor = job
            if content is None:
                shutil.rmtree(path, ignore_errors=True)
                continue
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                text = redactor.mask(msgspec.json.format(msgspec.json.encode(content), indent=2).decode())
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                    file.write(text)
            except (OSError, ValueError, TypeError) as error:  # the disk, or a value that has no JSON form
                _log.error("transcript_not_written", path=str(path), error=str(error))


def _name(task: str, round_: int) -> str:
    """What the files of a round begin with."""
    return f"{_file_name(task)}~{round_:03}" if task else f"{round_:03}"


def _file_name(part: str) -> str:
    """A part of a path that stays within its folder, and within what file systems take."""
    name = quote(part, safe="").replace(".", "%2E") or "-"
    return name if len(name) <= LONGEST else f"{name[:100]}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _asked(message: Message) -> dict[str, Any]:
    """A message as the model gets it, with the harness's word to it."""
    sent = message.sent if isinstance(message, UserMessage) else ""
    return wire_message(message) | ({"sent": sent} if sent else {})
