"""Descriptors that a sandbox is started with, and sockets at paths of any length. Blocks."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def listening(path: Path) -> Generator[int]:
    """A socket that listens at a path of any length: the 108 bytes of an address hold one by its folder."""
    with _folder(path) as near, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(near)
        path.chmod(0o600)
        listener.listen(8)
        yield listener.fileno()


@contextmanager
def _folder(path: Path) -> Generator[str]:
    fd = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{path.name}"
    finally:
        os.close(fd)


def connected(path: Path) -> socket.socket:
    """Connect to such a path.

    Raises:
        OSError: nothing listens there.
    """
    with _folder(path) as near:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.setblocking(False)
            connection.connect(near)
        except OSError:
            connection.close()
            raise
        return connection


@contextmanager
def holding(content: bytes) -> Generator[int]:
    """A descriptor to read content from."""
    fd = os.memfd_create("talaria")
    try:
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


@contextmanager
def appending(path: Path) -> Generator[int]:
    """A descriptor that writes at the end of a file."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def reading(path: Path) -> Generator[int]:
    """A descriptor to read a file from."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)
