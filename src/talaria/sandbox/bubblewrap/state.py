"""The state folder, and the lock that keeps a second talaria out of it. Blocks."""

import fcntl
import os
import threading
from pathlib import Path

from talaria.core.errors import SandboxUnavailable
from talaria.sandbox.bubblewrap.machine import closed_to_others


class StateFolder:
    """A folder that one process at a time uses: from the first `take` to `release`, or its death."""

    def __init__(self, path: Path) -> None:
        """Nothing is made yet."""
        self.path = path
        self._lock: int | None = None
        self._one_at_a_time = threading.Lock()

    def take(self) -> None:
        """Make the folder and lock it; no error if it is ours.

        Raises:
            SandboxUnavailable: another process has it, or those who run in sandboxes cannot enter it.
        """
        with self._one_at_a_time:
            if self._lock is None:
                self._lock = self._locked()

    def release(self) -> None:
        """Let others use it."""
        with self._one_at_a_time:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    def _locked(self) -> int:
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o711 if os.geteuid() == 0 else 0o700)
        if closed := closed_to_others(self.path):
            raise SandboxUnavailable(
                f"{closed} is closed to other users, as which sandboxes run: "
                "set sandbox.state to a folder they may enter, such as /var/lib/talaria"
            )
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise SandboxUnavailable(f"another talaria keeps its sandboxes in {self.path}: set sandbox.state") from None
        return lock
