"""A sandbox: a workspace with a computer around it, for one session."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

WORKSPACE = "/workspace"
"""The folder that a conversation keeps, as what runs inside sees it. Relative paths begin here."""
KEPT = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run. `timeout` in seconds; None: as long as it takes.

    Of its output (both streams, in order of arrival) the first `head` and the last `tail` bytes are kept; what lies
    between is read and dropped. `env` comes on top of the sandbox's own. Without `stdin` it reads an empty one.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    stdin: bytes = field(default=b"", repr=False)
    timeout: float | None = None
    cwd: str = WORKSPACE
    head: int = KEPT
    tail: int = KEPT


@dataclass(frozen=True, slots=True)
class Exited:
    """How a command ended. `exit_code` is 128 + n after signal n, as a shell has it.

    `reason`: "exited" by itself; "timeout"; "disk": ended because the workspace is over its limit; "memory": the
    kernel ended it. `dropped` bytes of output lie between `head` and `tail`. `note`: what the model must be
    told besides, such as that the sandbox is not the one it knew.
    """

    exit_code: int
    head: bytes
    tail: bytes = b""
    dropped: int = 0
    reason: Literal["exited", "timeout", "disk", "memory"] = "exited"
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of the workspace: `path` relative to it with "/" between names, size in bytes, modified in ms."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int
    modified: int


class Pipe(Protocol):
    """A connection to a port inside. Slow readers hold up only themselves."""

    async def read(self) -> bytes:
        """The next bytes, at most 64 KiB; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send bytes; returns when more can be taken.

        Raises:
            SandboxLost: the sandbox, or what listened, is gone.
        """
        ...

    async def close(self) -> None:
        """End the connection. Closing twice is no error."""
        ...


class Sandbox(Protocol):
    """A workspace with a computer around it. Every method may be called while others run.

    Paths are relative to the workspace or begin with it. One that leads out of it, by "..", a link or otherwise, also
    one that is exchanged meanwhile, is refused with InvalidRequest. Every method raises SandboxLost when the sandbox is
    gone.
    """

    async def exec(self, command: Command, output: Callable[[bytes], None] | None = None) -> Exited:
        """Run a command; `output` gets what it writes, as it comes, as far as it is kept in `head`.

        Returns when the command itself ends, at the latest at its timeout. By then nothing that it started runs any
        more, however it was detached; the same holds when this is cancelled. Others' commands go on.

        Raises:
            InvalidRequest: cwd is no folder of the workspace.
        """
        ...

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a regular file, at most 16 MiB at once.

        Raises:
            NotFound: there is no such file. InvalidRequest: it is no regular file.
        """
        ...

    async def write(self, path: str, data: AsyncIterator[bytes] | bytes) -> None:
        """Replace a file, or make it with the folders on the way to it: all or nothing, also when this is cancelled.

        Raises:
            InvalidRequest: there is a folder or a device, or no room left.
        """
        ...

    async def list(self, path: str = "", *, depth: int = 1, limit: int = 10_000) -> list[FileInfo]:
        """Return what is in a folder, sorted by path, links not followed; at most `limit`.

        Raises:
            NotFound: there is no such folder.
        """
        ...

    async def dial(self, port: int) -> Pipe:
        """Connect to a TCP port that something inside listens on (127.0.0.1 or ::1).

        Raises:
            NotFound: nothing listens there.
        """
        ...

    async def close(self) -> None:
        """End it and all that runs in it; the workspace stays. Closing twice is no error."""
        ...
