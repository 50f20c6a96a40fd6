"""Bytes as files in a folder: written beside their place, synced, then renamed into it."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from talaria.core.errors import NotFound, Overloaded
from talaria.ports.artifacts import IsKnown

PIECE = 256 * 1024
"""Bytes that are read or written at once."""
DRAFTS = "drafts"

Result = TypeVar("Result")


class Folder:
    """Bytes below `root`, which is made when it is first needed. Names are keys: no path ever comes from a client."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, data: AsyncIterator[bytes]) -> None:
        """See Bytes."""
        draft = _Draft(self._root / DRAFTS / key, self._place(key))
        try:
            await _whole(asyncio.to_thread(draft.open))
            waiting = bytearray()
            async for piece in data:
                waiting += piece
                if len(waiting) >= PIECE:
                    full, waiting = waiting, bytearray()
                    await _whole(asyncio.to_thread(draft.write, full))
            await _whole(asyncio.to_thread(draft.finish, waiting))
        except OSError as error:
            raise _unavailable(self._root, error) from error
        finally:
            await _whole(asyncio.to_thread(draft.discard))

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """See Bytes."""
        try:
            file = await asyncio.to_thread(self._place(key).open, "rb")
        except FileNotFoundError:
            raise NotFound("the bytes of this file are gone") from None
        except OSError as error:
            raise _unavailable(self._root, error) from error
        try:
            while (room := PIECE if end is None else min(PIECE, end - start)) > 0:
                piece = await _whole(asyncio.to_thread(os.pread, file.fileno(), room, start))
                if not piece:
                    break
                start += len(piece)
                yield piece
        finally:
            await _whole(asyncio.to_thread(file.close))

    async def delete(self, key: str) -> None:
        """See Bytes."""
        try:
            await asyncio.to_thread(self._place(key).unlink, missing_ok=True)
        except OSError as error:
            raise _unavailable(self._root, error) from error

    async def sweep(self, age: float, is_known: IsKnown) -> int:
        """See Bytes."""
        gone = 0
        for path in await asyncio.to_thread(lambda: list(self._older(time.time() - age))):
            if path.parent.name == DRAFTS or not await is_known(path.name):
                await asyncio.to_thread(path.unlink, missing_ok=True)
                gone += 1
        return gone

    async def check(self) -> None:
        """See Bytes."""
        if not await asyncio.to_thread(self._is_writable):
            raise Overloaded(f"artifacts: {self._root} cannot be written to", retry_after=30)

    async def close(self) -> None:
        """See Bytes."""

    def _place(self, key: str) -> Path:
        assert key.replace("_", "").replace("-", "").isalnum()
        assert key.isascii()
        return self._root / key[-2:] / key

    def _older(self, when: float) -> Iterator[Path]:
        for folder in self._root.iterdir() if self._root.is_dir() else ():
            for path in folder.iterdir() if folder.is_dir() else ():
                if path.is_file() and path.stat().st_mtime <= when:
                    yield path

    def _is_writable(self) -> bool:
        there = next((each for each in (self._root, *self._root.absolute().parents) if each.exists()), self._root)
        return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


class _Draft:
    """A file being written. Its methods block: they run on a thread, one after the other."""

    def __init__(self, path: Path, place: Path) -> None:
        self._path = path
        self._place = place
        self._file: BinaryIO | None = None

    def open(self) -> None:
        for folder in (self._path.parent, self._place.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0)

    def write(self, data: bytearray) -> None:
        assert self._file is not None
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def finish(self, data: bytearray) -> None:
        """Write the end, and move the whole into its place, so that it is there after a power cut."""
        self.write(data)
        assert self._file is not None
        os.fsync(self._file.fileno())
        self._path.rename(self._place)
        for folder in (self._place.parent, self._place.parent.parent):
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(held)
            finally:
                os.close(held)

    def discard(self) -> None:
        """Close the file, and remove what has not come into its place."""
        if self._file is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)


async def _whole(work: Awaitable[Result]) -> Result:
    """Wait for work on a thread to its end, also when cancelled: what comes next must not overtake it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _unavailable(root: Path, error: OSError) -> Overloaded:
    return Overloaded(f"artifacts: {root}: {error.strerror or error}", retry_after=30)
