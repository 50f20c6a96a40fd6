"""A sandbox into which a turn's attachments are put before it is first used."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import structlog

from talaria.artifacts.files import Files
from talaria.core.errors import InvalidRequest, NotFound
from talaria.core.messages import File, Image
from talaria.core.principal import Principal
from talaria.journal.state import SessionState
from talaria.ports.sandbox import WORKSPACE, Command, Exited, FileInfo, Pipe, Sandbox

_log = structlog.get_logger("talaria.files")


class Placing:
    """The sandbox `inner`; whoever uses it first brings the files, and the others wait for that.

    `is_new`: no tool of the run has started yet. Else what is there stays: a tool may have changed it.
    """

    def __init__(
        self, inner: Sandbox, files: Files, owner: Principal, placed: Sequence[File | Image], is_new: bool
    ) -> None:
        self._inner = inner
        self._files = files
        self._owner = owner
        self._placed = placed
        self._is_new = is_new
        self._lock = asyncio.Lock()

    async def exec(self, command: Command, output: Callable[[bytes], None] | None = None) -> Exited:
        """See Sandbox."""
        return await (await self._ready()).exec(command, output)

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """See Sandbox."""
        return await (await self._ready()).read(path, offset, limit)

    async def write(self, path: str, data: AsyncIterator[bytes] | bytes) -> None:
        """See Sandbox."""
        await (await self._ready()).write(path, data)

    async def list(self, path: str = "", *, depth: int = 1, limit: int = 10_000) -> list[FileInfo]:
        """See Sandbox."""
        return await (await self._ready()).list(path, depth=depth, limit=limit)

    async def dial(self, port: int) -> Pipe:
        """See Sandbox."""
        return await (await self._ready()).dial(port)

    async def close(self) -> None:
        """See Sandbox."""
        await self._inner.close()

    async def _ready(self) -> Sandbox:
        async with self._lock:
            if self._placed:
                there = set[str]() if self._is_new else {each.path for each in await self._inner.list()}
                for part in self._placed:
                    if part.place.removeprefix(f"{WORKSPACE}/") not in there:
                        await self._put(part)
                self._placed = ()
        return self._inner

    async def _put(self, part: File | Image) -> None:
        """Put one file into its place. One that cannot be put is missed by whoever wants to read it."""
        try:
            artifact = await self._files.find(self._owner, part.blob)
            await self._inner.write(part.place, self._files.read(artifact))
        except (NotFound, InvalidRequest) as error:
            _log.warning("attachment_not_placed", artifact=part.blob, error=error.message)


def with_files(sandbox: Sandbox | None, files: Files, owner: Principal, state: SessionState) -> Sandbox | None:
    """Return the sandbox of the session's run, with what came with its message in it as soon as it is used."""
    run = state.run
    if sandbox is None or run is None:
        return sandbox
    placed = [part for part in run.turn.message.parts if isinstance(part, (File, Image)) and part.place]
    return Placing(sandbox, files, owner, placed, run.call_count == 0) if placed else sandbox
