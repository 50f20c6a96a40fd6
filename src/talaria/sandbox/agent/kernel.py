"""What Python has no name for: prctl and openat2."""

import ctypes
import errno
import os
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36
_OPENAT2 = 437
_RESOLVE = 0x08 | 0x02  # RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS
_RACES = 16


def hide() -> None:
    """Let nothing of the same user trace this process, or look into its files and memory."""
    _LIBC.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def adopt() -> None:
    """Become the parent of what descends from this process and loses its own."""
    _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open a path that never leads out of the folder, whatever is exchanged meanwhile.

    Where the kernel cannot promise that, links are not followed at all.
    """
    flags |= os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    how = struct.pack("=QQQ", flags, 0, _RESOLVE)
    for _ in range(_RACES):
        found = _LIBC.syscall(_OPENAT2, folder, os.fsencode(path or "."), how, len(how))
        if found >= 0:
            return found
        number = ctypes.get_errno()
        if number in (errno.ENOSYS, errno.EPERM):
            return _open_steps(folder, path, flags)
        if number != errno.EAGAIN:
            raise OSError(number, os.strerror(number))
    raise OSError(errno.EXDEV, "it is exchanged all the time")


def _open_steps(folder: int, path: str, flags: int) -> int:
    parts = [part for part in path.split("/") if part not in ("", ".")] or ["."]
    if ".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    at = os.dup(folder)
    try:
        for part in parts[:-1]:
            at = _replace(at, os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at))
        return os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=at)
    finally:
        os.close(at)


def _replace(old: int, new: int) -> int:
    os.close(old)
    return new
