"""What is kept of a sandbox in the state folder, so that it is found again after a restart or a kill."""

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A sandbox: its labels, the host's uid it runs as (None: ours), its control groups."""

    labels: dict[str, str]
    uid: int | None
    groups: list[str]


class Folder:
    """The folder of one sandbox.

    `record.json` is ours, `info.json` bubblewrap's; `agent.sock` leads to the agent, `log` says why it did not start.
    """

    def __init__(self, path: Path) -> None:
        """Nothing is made yet."""
        self.path = path
        self.name = path.name
        self.workspace = path / "workspace"
        self.socket = path / "agent.sock"
        self.info = path / "info.json"
        self.log = path / "log"
        self._record = path / "record.json"

    def load(self) -> Record | None:
        """Return the record; None if there is none, or only half of one."""
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Record)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def save(self, record: Record) -> None:
        """Make the folder and its workspace, and keep the record: all or nothing."""
        self.path.mkdir(mode=0o711, exist_ok=True)
        if not self.workspace.exists():
            workspace = self.path / "workspace.new"
            workspace.mkdir(mode=0o700, exist_ok=True)
            if record.uid is not None:
                os.chown(workspace, record.uid, record.uid)
            workspace.rename(self.workspace)
        new = self._record.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(record))
        new.rename(self._record)

    def process(self) -> int | None:
        """Return the host's pid of the sandbox's first process, while it runs.

        A pid alone could be another's by now; bubblewrap also told us the number of its pid namespace.
        """
        try:
            info = json.loads(self.info.read_bytes())
            pid, namespace = int(info["child-pid"]), int(info["pid-namespace"])
            return pid if Path(f"/proc/{pid}/ns/pid").stat().st_ino == namespace else None
        except (OSError, ValueError, KeyError):
            return None

    def complaint(self) -> str:
        """Return the end of what the start wrote, in one line."""
        try:
            return " ".join(self.log.read_bytes()[-500:].decode("utf-8", "replace").split())
        except FileNotFoundError:
            return ""

    def clear(self) -> None:
        """Delete what belongs to one run of the sandbox; the workspace and the record stay."""
        for path in (self.socket, self.info, self.log):
            path.unlink(missing_ok=True)


def folders(state: Path) -> Iterator[Folder]:
    """All sandboxes there are in a state folder."""
    return (Folder(path) for path in sorted(state.iterdir()) if path.is_dir())


def free_uid(state: Path, uids: range, name: str) -> int:
    """Return a uid that no sandbox of this state folder has, spread by name so that others' are seldom met.

    Raises:
        LookupError: all are taken.
    """
    taken = {record.uid for folder in folders(state) if (record := folder.load())}
    start = zlib.crc32(name.encode()) % len(uids)
    for offset in range(len(uids)):
        if (uid := uids[(start + offset) % len(uids)]) not in taken:
            return uid
    raise LookupError(f"all {len(uids)} uids are taken")
