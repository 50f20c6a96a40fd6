"""Requests about files: read, write, list."""

import errno
import os
import stat

from talaria.sandbox.agent.paths import HIDDEN, Refused, refusal
from talaria.sandbox.agent.session import Channel
from talaria.sandbox.frames import LARGEST

_STEP = 500
"""Entries of a folder between looks at other things."""


class Read(Channel):
    """Sends a part of a regular file."""

    def __init__(self, session, number, paths, path, offset, limit):
        super().__init__(session, number)
        self._left = limit
        self._at = offset
        self._fd = paths.open(path, os.O_RDONLY)
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            os.close(self._fd)
            raise Refused("invalid", f"{path} is no regular file")
        self.pump()

    def pump(self):
        while self._fd >= 0:
            size = min(self._left, self.room(), LARGEST)
            if self._left and not size:
                return
            try:
                data = os.pread(self._fd, size, self._at)
            except OSError as error:
                os.close(self._fd)
                self._fd = -1
                self.fail("invalid", os.strerror(error.errno))
                return
            if not data:
                self.close()
                return
            self._at += len(data)
            self._left -= len(data)
            self.send(data)

    def close(self):
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self.done(b"ok")


class Write(Channel):
    """Replaces a file by what the host sends, at its end, all at once."""

    def __init__(self, session, number, paths, path, usage):
        super().__init__(session, number)
        self._path = path
        self._usage = usage
        self._size = 0
        self._fd = -1
        clean = paths.relative(path)
        above, _, self._name = clean.rpartition("/")
        if not self._name:
            raise Refused("invalid", "that is the workspace itself")
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

    def _mode(self):
        try:
            found = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return 0o644
        if stat.S_ISLNK(found.st_mode):
            raise Refused("invalid", f"{self._path} is a link: write to what it stands for, or remove it")
        if not stat.S_ISREG(found.st_mode):
            raise Refused("invalid", f"{self._path} is no regular file")
        return stat.S_IMODE(found.st_mode) & 0o777 | 0o600

    def data(self, payload):
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

    def end(self):
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

    def close(self):
        self._clean()
        self.done(b"ok")

    def _stop(self, error):
        self._clean()
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            self.fail("invalid", f"no room is left for {self._path}")
        else:
            self.fail("invalid", f"{self._path}: {os.strerror(error.errno)}")

    def _clean(self):
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

    def __init__(self, session, number, paths, path, depth, limit, loop):
        super().__init__(session, number)
        self._left = limit
        self._queue = bytearray()
        self._walking = True
        folder = paths.open_folder(path)
        loop.job(self._walk(folder, paths.relative(path), depth))

    def _walk(self, folder, path, depth):
        try:
            yield from self._folder(folder, path, depth)
        finally:
            self._walking = False
            self.pump()

    def _folder(self, folder, path, depth):
        try:
            names = yield from self._names(folder)
            for name in names:
                if not self._left or self.session.over:
                    return
                yield from self._entry(folder, name, f"{path}/{name}" if path else name, depth)
        finally:
            os.close(folder)

    def _names(self, folder):
        names = []
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                names.append(entry.name)
                if len(names) > self._left * 2 + _STEP:
                    names = sorted(names)[: self._left]
                if count % _STEP == 0:
                    yield
        return sorted(name for name in names if not name.startswith(HIDDEN))[: self._left]

    def _entry(self, folder, name, path, depth):
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

    def pump(self):
        while self._queue and self.room():
            part = self._queue[: min(self.room(), LARGEST)]
            del self._queue[: len(part)]
            self.send(part)
        if not self._walking and not self._queue:
            self.done(b"ok")

    def close(self):
        self._left = 0
        self._queue.clear()
        self.done(b"ok")


KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
