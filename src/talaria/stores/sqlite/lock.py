"""The lock beside the file: one process runs on a store, and the kernel frees it however that process ends."""

import os
import sys

from talaria.core.errors import ConfigurationError


class FileLock:
    """Holds `<path>.lock`. The file itself stays: removing it would let two processes hold two of them."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _lock(self._descriptor)
        except OSError as error:
            self.release()
            raise ConfigurationError(
                f"another process, or another runtime of this one, runs on {path}: stop it, or name another file in "
                "store.url"
            ) from error

    def release(self) -> None:
        """Give the lock back; once more does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
