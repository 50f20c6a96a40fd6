"""One request to an agent, or one connection: bytes both ways within windows, and a last word."""

import asyncio
from collections import deque
from typing import Protocol

from talaria.core.errors import SandboxLost
from talaria.sandbox import frames
from talaria.sandbox.frames import COUNT, EGRESS, LARGEST, WINDOW, BadFrame


class Sender(Protocol):
    """What takes frames."""

    def send(self, kind: int, channel: int = 0, payload: bytes = b"") -> None:
        """Send a frame, if the agent is there."""
        ...

    async def drain(self) -> None:
        """Return when more can be sent."""
        ...


def gone(why: str) -> SandboxLost:
    """Return the error for all who wait; `why` is for the operator."""
    return SandboxLost("The sandbox ended, and with it all that ran in it.", operator=why)


class Channel:
    """One request, or one connection: bytes both ways, and a last word."""

    def __init__(self, sender: "Sender", number: int) -> None:
        self.number = number
        self._sender = sender
        self._incoming: deque[bytes] = deque()
        self._owed = WINDOW
        self._window = WINDOW
        self._ended = False
        self._changed = asyncio.Event()
        self._ready = False
        self._lost: str | None = None
        self.result: list[bytes] | None = None

    async def read(self) -> bytes:
        """Return the next bytes; b"" when no more come."""
        while not self._incoming:
            if self._ended or self.result is not None:
                return b""
            await self._wait()
        data = self._incoming.popleft()
        if self.result is None and not self._ended:
            self._owed += len(data)
            self._sender.send(frames.CREDIT, self.number, COUNT.pack(len(data)))
        return data

    async def write(self, data: bytes) -> None:
        """Send bytes, as many as the agent takes; those after its last word are dropped."""
        view = memoryview(data)
        while view and self.result is None:
            if not self._window:
                await self._wait()
                continue
            part = view[: min(self._window, LARGEST)]
            self._window -= len(part)
            self._sender.send(frames.DATA, self.number, bytes(part))
            view = view[len(part) :]
            await self._sender.drain()
        self._check()

    def end(self) -> None:
        """Say that no more bytes follow."""
        if self.result is None:
            self._sender.send(frames.END, self.number)

    async def ready(self) -> None:
        """Wait until the connection stands, or the last word."""
        while not self._ready and self.result is None:
            await self._wait()

    async def done(self) -> list[bytes]:
        """Wait for the last word; bytes that come meanwhile are dropped."""
        while self.result is None:
            self._incoming.clear()
            await self._wait()
        return self.result

    async def close(self) -> None:
        """Give up, and wait until the agent has done so, too."""
        if self.result is None and self._lost is None:
            self._sender.send(frames.CLOSE, self.number)
            self._owed = EGRESS
            await self.done()

    async def _wait(self) -> None:
        self._check()
        self._changed.clear()
        await self._changed.wait()
        self._check()

    def _check(self) -> None:
        if self._lost is not None and self.result is None:
            raise gone(self._lost)

    def take(self, kind: int, payload: bytes) -> None:
        """A frame for this channel came.

        Raises:
            BadFrame: it is none that may come now.
        """
        match kind:
            case frames.DATA:
                self._owed -= len(payload)
                if self._owed < 0 or self._ended:
                    raise BadFrame("more bytes than were asked for")
                if payload:
                    self._incoming.append(payload)
            case frames.CREDIT if len(payload) == COUNT.size:
                self._window = min(self._window + COUNT.unpack(payload)[0], WINDOW)
            case frames.END:
                self._ended = True
            case frames.READY:
                self._ready = True
            case frames.DONE:
                self.result = payload.split(b"\0")
            case _:
                raise BadFrame(f"a frame of kind {kind}")
        self._changed.set()

    def lose(self, why: str) -> None:
        """The agent is gone."""
        self._lost = why
        self._changed.set()


class ChannelPipe:
    """A connection to something inside, or from it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def read(self) -> bytes:
        """Return the next bytes; b"" at the end."""
        return await self._channel.read()

    async def write(self, data: bytes) -> None:
        """Send bytes."""
        await self._channel.write(data)
        if self._channel.result is not None:
            raise SandboxLost("What listened in the sandbox has closed the connection.")

    def end(self) -> None:
        """Say that no more bytes follow; what comes can still be read."""
        self._channel.end()

    async def close(self) -> None:
        """End the connection."""
        try:
            await self._channel.close()
        except SandboxLost:
            return
