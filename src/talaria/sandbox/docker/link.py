"""The stream to the agent of a container: what it reads and writes, through the engine."""

import asyncio
from contextlib import suppress

import aiohttp
import structlog
from aiodocker import DockerError
from aiodocker.stream import Stream

from talaria.sandbox.docker.engine import Engine

WAITING = 256 * 1024
"""Bytes that may wait to be sent before `drain` holds up."""
_STDOUT = 1
_WORDS = 2_000
_BROKEN = (DockerError, aiohttp.ClientError, OSError, RuntimeError)
_log = structlog.get_logger(__name__)


class DockerLink:
    """An attached container. It has a client of its own: streams are as many as sandboxes, a client has 100 at most."""

    def __init__(self, engine: Engine, stream: Stream, name: str) -> None:
        self._engine = engine
        self._stream = stream
        self._name = name
        self._waiting = bytearray()
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._is_over = False
        self._writer = asyncio.create_task(self._send(), name=f"sandbox {name}")

    @classmethod
    async def attached(cls, engine: Engine, container: str, name: str) -> "DockerLink":
        """Attach to a container, before its start or later. The client is closed with the link, also if this fails."""
        try:
            return cls(engine, await engine.attach(container), name)
        except BaseException:
            await engine.close()
            raise

    async def read(self) -> bytes:
        """Return the next bytes of the agent; b"" when it is gone. Its complaints go to the log."""
        with suppress(*_BROKEN):
            while not self._is_over and (message := await self._stream.read_out()) is not None:
                if message.stream == _STDOUT and message.data:
                    return message.data
                self._complain(message.data)
        self._end()
        return b""

    def write(self, data: bytes) -> None:
        """Send bytes in order; nothing when the link is over."""
        if self._is_over:
            return
        self._waiting += data
        self._more.set()
        if len(self._waiting) > WAITING:
            self._room.clear()

    async def drain(self) -> None:
        """Return when more can be taken."""
        await self._room.wait()

    async def close(self) -> None:
        """Let go of the stream; the container goes on."""
        self._end()
        self._writer.cancel()
        with suppress(asyncio.CancelledError):
            await self._writer
        await self._stream.close()
        await self._engine.close()

    async def _send(self) -> None:
        with suppress(*_BROKEN):
            while True:
                await self._more.wait()
                self._more.clear()
                data = bytes(self._waiting)
                self._waiting.clear()
                await self._stream.write_in(data)
                if not self._waiting:
                    self._room.set()
        self._end()

    def _end(self) -> None:
        self._is_over = True
        self._waiting.clear()
        self._room.set()

    def _complain(self, data: bytes) -> None:
        if text := data[-_WORDS:].decode("utf-8", "replace").strip():
            _log.warning("the agent of a sandbox complains", sandbox=self._name, text=text)
