"""What a deployment must know of its sandboxes after a restart or a kill: a file for each, in its state folder.

`deployment` holds the deployment's id, `lock` keeps a second process out, `sessions/NAME` says whose sandbox NAME is;
when that file was last modified is when the sandbox was last used.
"""

import asyncio
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.core.ids import new_id


@dataclass(frozen=True, slots=True)
class Record:
    """Whose sandbox (a session's path) has this name, and when it was last used, in ms."""

    name: str
    session: str
    used: int


class Records:
    """The records of one deployment. Hold `open` for as long as the process may use its sandboxes."""

    def __init__(self, folder: Path, deployment: str, lock: int) -> None:
        self.folder = folder
        self.deployment = deployment
        self._lock = lock
        self._sessions = folder / "sessions"

    @staticmethod
    async def open(folder: Path) -> "Records":
        """Make the folder if it is not there, and take its lock.

        Raises:
            SandboxUnavailable: another process has it, or it cannot be written.
        """
        return await asyncio.to_thread(_open, folder)

    async def load(self) -> list[Record]:
        """Return what is on record, in order of last use."""
        return await asyncio.to_thread(self._load)

    async def write(self, record: Record) -> None:
        """Keep a record: all or nothing."""
        await asyncio.to_thread(self._write, record)

    async def touch(self, used: dict[str, int]) -> None:
        """Keep when sandboxes were last used: ms by name."""
        await asyncio.to_thread(self._touch, used)

    async def drop(self, name: str) -> None:
        """Remove a record, if it is there."""
        await asyncio.to_thread((self._sessions / name).unlink, missing_ok=True)

    def close(self) -> None:
        """Let another process in."""
        os.close(self._lock)

    def _load(self) -> list[Record]:
        found: list[Record] = []
        for path in self._sessions.iterdir():
            if path.suffix:  # half written when the process was killed
                path.unlink(missing_ok=True)
                continue
            found.append(Record(path.name, path.read_text(encoding="utf-8"), path.stat().st_mtime_ns // 1_000_000))
        return sorted(found, key=lambda record: record.used)

    def _write(self, record: Record) -> None:
        path = self._sessions / record.name
        half = path.with_suffix(".new")
        half.write_text(record.session, encoding="utf-8")
        _set_used(half, record.used)
        half.replace(path)

    def _touch(self, used: dict[str, int]) -> None:
        for name, at in used.items():
            try:
                _set_used(self._sessions / name, at)
            except FileNotFoundError:  # dropped meanwhile
                continue


def _set_used(path: Path, at: int) -> None:
    os.utime(path, ns=(at * 1_000_000, at * 1_000_000))


def _open(folder: Path) -> Records:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        (folder / "sessions").mkdir(exist_ok=True, mode=0o700)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SandboxUnavailable(f"sandbox.state: cannot write to {folder}: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return Records(folder, _deployment(folder / "deployment"), lock)
    except BlockingIOError:
        os.close(lock)
        raise SandboxUnavailable(
            f"sandbox.state: another process uses {folder}; end it, or give this one a folder of its own"
        ) from None
    except BaseException:
        os.close(lock)
        raise


def _deployment(path: Path) -> str:
    """The id of the deployment, made with its folder: a folder that is moved keeps it."""
    if not path.exists():
        half = path.with_suffix(".new")
        half.write_text(new_id("dep"), encoding="utf-8")
        half.replace(path)
    return path.read_text(encoding="utf-8").strip()
