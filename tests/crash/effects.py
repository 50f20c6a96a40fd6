"""What tools did to the world: a file that survives the server, written before a tool returns."""

import os
from pathlib import Path
from typing import Any

import msgspec


class Effect(msgspec.Struct, frozen=True):
    """A tool did something: the call it did it for, under which key, with which arguments."""

    tool: str
    call: str
    key: str
    arguments: dict[str, Any]


class EffectLog:
    """Appends effects to a file, each durable when `add` returns."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def add(self, effect: Effect) -> None:
        """Append one effect."""
        os.write(self._file, msgspec.json.encode(effect) + b"\n")
        os.fsync(self._file)


def read_effects(path: Path) -> list[Effect]:
    """All effects so far, in order."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [msgspec.json.decode(line, type=Effect) for line in lines]
