"""The host's end of the stream to an agent: hello, channels, credit, and finding out that it is gone.

Nothing that comes from the agent is trusted: whatever does not keep to the protocol ends the connection.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence

from talaria.core.errors import SandboxLost
from talaria.sandbox import frames
from talaria.sandbox.channel import Channel, gone
from talaria.sandbox.frames import EGRESS, LARGEST, PADDING, REQUEST, BadFrame, Decoder, frame
from talaria.sandbox.launcher import Link

HELLO_SECONDS = 20.0
PING_SECONDS = 10.0
SILENCE = 60.0
"""After so many seconds without a sign of the agent it counts as gone."""
_MOST_CONNECTIONS = 64
_TOKEN = 32


class Connection:
    """The stream to an agent that has answered our hello. `on_connection` gets those that come from inside."""

    def __init__(self, link: Link, on_connection: Callable[[Channel], None] | None = None) -> None:
        self._link = link
        self._on_connection = on_connection
        self._channels: dict[int, Channel] = {}
        self._next = 0
        self._decoder = Decoder()
        self._heard = 0.0
        self._tasks: list[asyncio.Task[None]] = []
        self.lost: str | None = None
        self.gone = asyncio.Event()

    async def open(self) -> None:
        """Say hello and wait for the answer.

        Raises:
            SandboxLost: none came.
        """
        token = secrets.token_bytes(_TOKEN)
        answer = frame(frames.HELLO, 0, token)
        self.write(PADDING + answer)
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                await self.drain()
                rest = await self._after(answer)
        except (TimeoutError, OSError) as error:
            raise SandboxLost("The sandbox does not answer.", operator=str(error)) from error
        self._heard = asyncio.get_running_loop().time()
        self._tasks = [asyncio.create_task(self._read(rest)), asyncio.create_task(self._ping())]

    async def _after(self, answer: bytes) -> bytes:
        seen = b""
        while True:
            data = await self._link.read()
            if not data:
                raise SandboxLost("The sandbox ended before it answered.")
            seen += data
            before, found, rest = seen.partition(answer)
            if found:
                return rest
            seen = before[-len(answer) :]

    def request(self, fields: Sequence[bytes]) -> Channel:
        """Send a request and return its channel. The fields have no NUL.

        Raises:
            SandboxLost: the agent is gone.
        """
        self._next = (self._next + 1) % EGRESS or 1
        channel = Channel(self, self._next)
        if self.lost is not None:
            raise gone(self.lost)
        text = b"\0".join(fields)
        assert len(text) <= REQUEST
        self._channels[channel.number] = channel
        while len(text) > LARGEST:
            self.send(frames.MORE, channel.number, text[:LARGEST])
            text = text[LARGEST:]
        self.send(frames.OPEN, channel.number, text)
        return channel

    def send(self, kind: int, channel: int = 0, payload: bytes = b"") -> None:
        """Send a frame, if the agent is there."""
        self.write(frame(kind, channel, payload))

    def write(self, data: bytes) -> None:
        """Send bytes."""
        if self.lost is None:
            try:
                self._link.write(data)
            except OSError as error:
                self._lose(str(error))

    async def drain(self) -> None:
        """Return when more can be sent."""
        if self.lost is None:
            try:
                await self._link.drain()
            except OSError as error:
                self._lose(str(error))

    async def close(self) -> None:
        """Let go of the agent."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._lose("it was closed here")
        await self._link.close()

    async def _read(self, rest: bytes) -> None:
        data = rest
        try:
            while True:
                for kind, number, payload in self._decoder.feed(data):
                    self._take(kind, number, payload)
                data = await self._link.read()
                self._heard = asyncio.get_running_loop().time()
                if not data:
                    self._lose("its stream ended")
                    return
        except (BadFrame, OSError) as error:
            self._lose(str(error))

    def _take(self, kind: int, number: int, payload: bytes) -> None:
        channel = self._channels.get(number)
        if channel is not None:
            channel.take(kind, payload)
            if channel.result is not None:
                del self._channels[number]
        elif kind == frames.OPEN and number >= EGRESS:
            self._connected(number)
        elif kind != frames.PING:
            raise BadFrame(f"a frame of kind {kind} for a channel that is not open")

    def _connected(self, number: int) -> None:
        inside = sum(each >= EGRESS for each in self._channels)
        if self._on_connection is None or inside >= _MOST_CONNECTIONS:
            raise BadFrame("a connection from inside that is not allowed")
        channel = self._channels[number] = Channel(self, number)
        self._on_connection(channel)

    async def _ping(self) -> None:
        loop = asyncio.get_running_loop()
        while self.lost is None:
            self.send(frames.PING)
            await asyncio.sleep(PING_SECONDS)
            if loop.time() - self._heard > SILENCE:
                self._lose(f"nothing was heard for {SILENCE:g} s")

    def _lose(self, why: str) -> None:
        if self.lost is not None:
            return
        self.lost = why
        for channel in self._channels.values():
            channel.lose(why)
        self._channels.clear()
        self.gone.set()
