"""Paths of the workspace, none of which leads out of it."""

import errno
import os
import posixpath

from talaria.sandbox.agent.kernel import open_beneath

SHOWN = "/workspace"
"""What hosts call the workspace, wherever it is."""
HIDDEN = ".talaria-write-"
"""How names of half written files begin."""
_NOT_FOUND = (errno.ENOENT, errno.ENOTDIR)


class Refused(Exception):
    """What a request asks for is not there or not allowed: which error, and words."""

    def __init__(self, which: str, words: str) -> None:
        super().__init__(words)
        self.which = which
        self.words = words


def refusal(path: str, error: OSError) -> Refused:
    """Say in words why a path cannot be used."""
    shown = path or "."
    if error.errno in _NOT_FOUND:
        return Refused("not_found", f"There is no file or folder {shown}.")
    if error.errno in (errno.EXDEV, errno.ELOOP):
        return Refused("invalid", f"The path {shown} leads out of the workspace, or through a link that may.")
    return Refused("invalid", f"The path {shown} cannot be used: {os.strerror(error.errno or 0)}.")


class Paths:
    """The workspace, and what is opened in it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.root = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def relative(self, path: str) -> str:
        """Return a path within the workspace: no ".." in it, "" for the workspace itself."""
        if path == SHOWN or path.startswith(SHOWN + "/"):
            path = path[len(SHOWN) :].lstrip("/")
        clean = posixpath.normpath(path or ".")
        if clean.startswith("/") or clean.split("/")[0] == "..":
            raise Refused("invalid", f"The path {path} is not in the workspace.")
        return "" if clean == "." else clean

    def open(self, path: str, flags: int) -> int:
        """Open what is there."""
        clean = self.relative(path)
        try:
            return open_beneath(self.root, clean, flags)
        except OSError as error:
            raise refusal(path, error) from None

    def open_folder(self, path: str) -> int:
        """Open a folder to work in."""
        return self.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def make_folder(self, path: str) -> int:
        """Open a folder, made with those on the way to it if it is not there."""
        clean = self.relative(path)
        try:
            return open_beneath(self.root, clean, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise refusal(path, error) from None
        above, name = posixpath.split(clean)
        folder = self.make_folder(above)
        try:
            os.mkdir(name, 0o755, dir_fd=folder)
        except FileExistsError:
            pass
        except OSError as error:
            raise refusal(path, error) from None
        finally:
            os.close(folder)
        return self.open_folder(clean)
