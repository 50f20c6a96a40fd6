"""Requests about files: read, write, list."""

import errno
import os
import stat
from collections.abc import Generator, Iterator

from talaria.sandbox.agent.paths import HIDDEN, Paths, Refused, refusal
from talaria.sandbox.agent.session import Channel, Session
from talaria.sandbox.agent.usage import Usage
from talaria.sandbox.frames import LARGEST

_STEP = 500
"""Entries of a folder between looks at other things."""


class Read(Channel):
    """Sends a part of a regular file."""

    def __init__(self, session: Session, number: int, paths: Paths, path: str, part: "tuple[int, int]") -> None:
        super().__init__(session, number)
        self._at, self._left = part
        self._fd = paths.open(path, os.O_RDONLY)
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            os.close(self._fd)
            raise Refused("invalid", f"{path or 'The workspace'} is no regular file.")
        self.pump()

    def pump(self) -> None:
        while self._fd >= 0:
            size = min(self._left, self.room(), LARGEST)
            if self._left and not size:
                return
            try:
                data = os.pread(self._fd, size, self._at)
            except OSError as error:
                os.close(self._fd)
                self._fd = -1
                self.fail("invalid", f"It cannot be read: {os.strerror(error.errno or 0)}.")
                return
            if not data:
                self.close()
                return
            self._at += len(data)
            self._left -= len(data)
            self.send(data)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self.done(b"ok")


class Write(Channel):
    """Replaces a file by what the host sends, at its end, all at once."""

    def __init__(self, session: Session, number: int, paths: Paths, path: str, usage: Usage) -> None:
        super().__init__(session, number)
        self._path = path
        self._usage = usage
        self._size = 0
        self._fd = -1
        clean = paths.relative(path)
        above, _, self._name = clean.rpartition("/")
        if not self._name:
            raise Refused("invalid", "That is the workspace itself.")
        self._hidden = f"{HIDDEN}{os.urandom(8).hex()}"
        self._folder = paths.make_folder(above)
        try:
            mode = self._mode()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(self._hidden, flags, 0o600, dir_fd=self._folder)
            os.fchmod(self._fd, mode)
        except OSError as error:
            self._clean()
            raise refusal(path, error) from None
        except Refused:
            self._clean()
            raise

    def _mode(self) -> int:
        try:
            found = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return 0o644
        if stat.S_ISLNK(found.st_mode):
            raise Refused("invalid", f"{self._path} is a link: write to what it stands for, or remove it.")
        if not stat.S_ISREG(found.st_mode):
            raise Refused("invalid", f"{self._path} is no regular file.")
        return stat.S_IMODE(found.st_mode) & 0o777 | 0o600

    def data(self, payload: bytes) -> None:
        if self._fd < 0:
            return
        self._size += len(payload)
        try:
            if not self._usage.fits(self._size):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            view = memoryview(payload)
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            self._stop(error)
            return
        self.taken(len(payload))

    def end(self) -> None:
        if self._fd < 0:
            return
        try:
            os.rename(self._hidden, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            self._stop(error)
            return
        self._usage.add(self._size)
        os.close(self._fd)
        os.close(self._folder)
        self._fd = self._folder = -1
        self.done(b"ok")

    def close(self) -> None:
        self._clean()
        self.done(b"ok")

    def _stop(self, error: OSError) -> None:
        self._clean()
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            self.fail("invalid", f"No room is left for {self._path}.")
        else:
            self.fail("invalid", f"{self._path} cannot be written: {os.strerror(error.errno or 0)}.")

    def _clean(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            try:
                os.unlink(self._hidden, dir_fd=self._folder)
            except OSError:
                pass
        if self._folder >= 0:
            os.close(self._folder)
        self._fd = self._folder = -1


class List(Channel):
    """Sends what is in a folder, and in those below it to some depth."""

    def __init__(self, session: Session, number: int, limit: int) -> None:
        super().__init__(session, number)
        self._left = limit
        self._queue = bytearray()
        self._walking = True

    def walk(self, folder: int, path: str, depth: int) -> "Iterator[None]":
        """Send it, in steps, from an open folder."""
        try:
            yield from self._folder(folder, path, depth)
        finally:
            self._walking = False
            self.pump()

    def _folder(self, folder: int, path: str, depth: int) -> "Iterator[None]":
        try:
            names = yield from self._names(folder)
            for name in names:
                if not self._left or self.session.over:
                    return
                yield from self._entry(folder, name, f"{path}/{name}" if path else name, depth)
        finally:
            os.close(folder)

    def _names(self, folder: int) -> "Generator[None, None, list[str]]":
        names: list[str] = []
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                names.append(entry.name)
                if len(names) > self._left * 2 + _STEP:
                    names = sorted(names)[: self._left]
                if count % _STEP == 0:
                    yield
        return sorted(name for name in names if not name.startswith(HIDDEN))[: self._left]

    def _entry(self, folder: int, name: str, path: str, depth: int) -> "Iterator[None]":
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return
        self._left -= 1
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "other")
        text = f"{kind}\0{found.st_size}\0{int(found.st_mtime * 1000)}\0{path}\0"
        self._queue += os.fsencode(text)
        self.pump()
        yield
        while self._queue:
            yield
            if self.session.over:
                return
        if kind == "folder" and depth > 1:
            try:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except OSError:
                return
            yield from self._folder(below, path, depth - 1)

    def pump(self) -> None:
        while self._queue and self.room():
            part = self._queue[: min(self.room(), LARGEST)]
            del self._queue[: len(part)]
            self.send(part)
        if not self._walking and not self._queue:
            self.done(b"ok")

    def close(self) -> None:
        self._left = 0
        self._queue.clear()
        self.done(b"ok")


KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
