"""What a kind of sandbox can do: start a computer with our agent as its first process, and find it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What one sandbox may take: bytes of memory, cores, processes, bytes of workspace; /tmp is a fourth of memory."""

    memory: int
    cpus: float
    pids: int
    disk: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A sandbox to start. `name` is unique in this deployment and safe in file names; its workspace is found by it.

    `labels` are kept with it and come back in `Found`. `agent` is the source of the agent, `options` its settings.
    """

    name: str
    size: Size
    labels: Mapping[str, str]
    options: Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Found:
    """A sandbox of this deployment that is there: running, or only its workspace."""

    name: str
    labels: Mapping[str, str]
    running: bool


class Link(Protocol):
    """The two-way byte stream to the agent. It begins anew with every `launch` and `attach`."""

    async def read(self) -> bytes:
        """The next bytes; b"" when the agent is gone."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes in order."""
        ...

    async def drain(self) -> None:
        """Return when more can be taken."""
        ...

    async def close(self) -> None:
        """Let go of the stream; the sandbox goes on."""
        ...


class Launcher(Protocol):
    """A kind of sandbox. Every method may be cancelled, and leaves nothing half made that `found` does not show."""

    @property
    def kind(self) -> str:
        """Docker or bubblewrap."""
        ...

    async def check(self) -> None:
        """Return if sandboxes can be launched here, within all their limits.

        Raises:
            SandboxUnavailable: they cannot; the message says what to install or allow.
        """
        ...

    async def launch(self, launch: Launch) -> Link:
        """Start a sandbox on its workspace, made if it is not there, and return the stream to its agent.

        Raises:
            SandboxUnavailable: it cannot be started.
        """
        ...

    async def attach(self, name: str) -> Link:
        """Return a new stream to the agent of a sandbox that runs; an older one ends.

        Raises:
            SandboxLost: it does not run.
        """
        ...

    async def found(self) -> list[Found]:
        """Return the sandboxes of this deployment."""
        ...

    async def remove(self, name: str, *, workspace: bool) -> None:
        """End a sandbox, and delete its workspace if asked to. Nothing of it is left then; no error if it is gone."""
        ...

    async def close(self) -> None:
        """Let go of what this process holds. Sandboxes go on."""
        ...
