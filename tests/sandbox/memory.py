"""Sandboxes in memory: a launcher that keeps workspaces as dicts, and can be made to fail, to hang and to lose them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from talaria.core.errors import NotFound, SandboxLost, SandboxUnavailable
from talaria.ports.sandbox import Command, Exited, FileInfo, Pipe
from talaria.sandbox.launcher import Found, Launch


class MemoryLink:
    """Carries no bytes: it says which sandbox is at its end."""

    def __init__(self, box: "Box") -> None:
        self.box = box

    async def read(self) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        del data

    async def drain(self) -> None: ...

    async def close(self) -> None: ...


@dataclass(eq=False)
class Box:
    """A sandbox: it runs until it is removed or killed."""

    name: str
    files: dict[str, bytes]
    runs: bool = True
    commands: int = 0
    served: int = 0
    closed_in_use: bool = False


@dataclass(eq=False)
class MemoryLauncher:
    """A launcher. `gate` lets launches through while it is set; `broken` says why they fail."""

    kind: str = "memory"
    workspaces: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    boxes: dict[str, Box] = field(default_factory=dict[str, Box])
    launched: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    most: int = 0
    at_gate: int = 0
    evicted_in_use: int = 0
    broken: str = ""
    stuck: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def running(self) -> list[Box]:
        return [box for box in self.boxes.values() if box.runs]

    def kill(self, name: str) -> None:
        """End it without anybody asking for it."""
        self.boxes[name].runs = False

    async def check(self) -> None:
        if self.broken:
            raise SandboxUnavailable(self.broken)

    async def launch(self, launch: Launch) -> MemoryLink:
        self.at_gate += 1
        try:
            await self.gate.wait()
        finally:
            self.at_gate -= 1
        await self.check()
        old = self.boxes.get(launch.name)
        assert old is None or not old.runs, f"{launch.name} runs already"
        box = Box(launch.name, self.workspaces.setdefault(launch.name, {}))
        self.boxes[launch.name] = box
        self.launched.append(launch.name)
        self.most = max(self.most, len(self.running))
        await asyncio.sleep(0)
        return MemoryLink(box)

    async def attach(self, name: str) -> MemoryLink:
        box = self.boxes.get(name)
        if box is None or not box.runs:
            raise SandboxLost(f"{name} does not run")
        return MemoryLink(box)

    async def found(self) -> list[Found]:
        await self.check()
        names = {**self.workspaces, **self.boxes}
        return [Found(name, {}, name in self.boxes and self.boxes[name].runs) for name in names]

    async def remove(self, name: str, *, workspace: bool) -> None:
        await asyncio.sleep(0)
        if self.stuck:
            raise SandboxUnavailable("it cannot be removed now")
        box = self.boxes.pop(name, None)
        if box is not None:
            self.evicted_in_use += not workspace and (box.closed_in_use or (box.runs and box.commands > 0))
            box.runs = False
        if workspace:
            self.workspaces.pop(name, None)
        self.removed.append(name)

    async def close(self) -> None: ...


@dataclass(eq=False)
class MemorySandbox:
    """A sandbox whose commands are words: `wait` waits to be let go, `box` says where it ran, others are echoed."""

    box: Box
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def lost(self) -> bool:
        return not self.box.runs

    def _check(self) -> None:
        if self.lost:
            raise SandboxLost("it is gone")

    async def exec(self, command: Command, output: Callable[[bytes], None] | None = None) -> Exited:
        self._check()
        self.box.commands += 1
        self.box.served += 1
        try:
            if command.argv[0] == "wait":
                await self.let_go.wait()
            await asyncio.sleep(0)
            self._check()
        finally:
            self.box.commands -= 1
        said = {"box": self.box.name, "env": repr(sorted(command.env.items()))}.get(command.argv[0], command.argv[0])
        if output is not None:
            output(said.encode())
        return Exited(0, said.encode())

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        self._check()
        if path not in self.box.files:
            raise NotFound(f"there is no file {path}")
        return self.box.files[path][offset:][:limit]

    async def write(self, path: str, data: AsyncIterator[bytes] | bytes) -> None:
        self._check()
        self.box.files[path] = data if isinstance(data, bytes) else b"".join([piece async for piece in data])

    async def list(self, path: str = "", *, depth: int = 1, limit: int = 10_000) -> list[FileInfo]:
        self._check()
        del path, depth
        return [FileInfo(name, "file", len(data), 0) for name, data in sorted(self.box.files.items())][:limit]

    async def dial(self, port: int) -> Pipe:
        self._check()
        if port == 1:
            raise NotFound("nothing listens on port 1")
        return MemoryPipe()

    async def close(self) -> None:
        self.box.closed_in_use = self.box.runs and self.box.commands > 0
        self.box.runs = False


class MemoryPipe:
    """A connection that says nothing."""

    async def read(self) -> bytes:
        return b""

    async def write(self, data: bytes) -> None:
        del data

    async def close(self) -> None: ...
