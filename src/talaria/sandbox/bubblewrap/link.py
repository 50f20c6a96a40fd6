"""The stream to an agent over its unix socket."""

import asyncio
import socket
from collections.abc import Callable

from talaria.core.errors import SandboxLost

_CHUNK = 64 * 1024


class SocketLink:
    """A `Link` over a connected unix socket."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, complaint: Callable[[], str]
    ) -> None:
        """Use `linked`."""
        self._reader = reader
        self._writer = writer
        self._complaint = complaint
        self._has_spoken = False

    async def read(self) -> bytes:
        """The next bytes; b"" when the agent is gone.

        Raises:
            SandboxLost: it went before it said a word; the message has why.
        """
        try:
            data = await self._reader.read(_CHUNK)
        except OSError:
            data = b""
        self._has_spoken = self._has_spoken or bool(data)
        if not self._has_spoken:
            raise SandboxLost(f"the sandbox did not start: {await asyncio.to_thread(self._complaint)}")
        return data

    def write(self, data: bytes) -> None:
        """Send bytes in order."""
        self._writer.write(data)

    async def drain(self) -> None:
        """Return when more can be taken.

        Raises:
            SandboxLost: the agent is gone.
        """
        try:
            await self._writer.drain()
        except OSError:
            raise SandboxLost("the sandbox is gone, with all that ran in it") from None

    async def close(self) -> None:
        """Let go of the stream; the sandbox goes on."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return


async def linked(connection: socket.socket, complaint: Callable[[], str]) -> SocketLink:
    """Return the link over a connected socket, which is its own from now on; `complaint` says why nobody answers."""
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    return SocketLink(reader, writer, complaint)
