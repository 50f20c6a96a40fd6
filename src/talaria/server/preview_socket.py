"""A WebSocket to a server inside a sandbox: messages are passed on in both directions."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from starlette.types import Receive, Send
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from talaria.core.errors import SandboxLost
from talaria.ports.sandbox import Pipe
from talaria.server.preview_http import PATIENCE, BadAnswer
from talaria.server.two_ways import two_ways

LARGEST = 16 * 1024 * 1024
"""Bytes of a message."""
AWAY, BROKEN, NOT_TEXT = 1001, 1011, 1007
UNSAYABLE = {1005: 1000, 1006: BROKEN, 1015: BROKEN}
"""Codes that no end can send, and what is said for them."""


class SocketExchange:
    """One WebSocket, over a connection of its own."""

    def __init__(self, pipe: Pipe, url: str, subprotocols: Sequence[str]) -> None:
        self._pipe = pipe
        wanted = [Subprotocol(each) for each in subprotocols]
        self._inner = ClientProtocol(parse_uri(url), subprotocols=wanted or None, max_size=LARGEST)
        self._pieces = list[bytes]()
        self._is_text = False
        self._writing = asyncio.Lock()

    async def run(self, receive: Receive, send: Send) -> None:
        """Pass messages on until either end closes.

        Raises:
            BadAnswer: the server inside takes no WebSocket here. SandboxLost: it ended meanwhile.
        """
        await self._open()
        await send({"type": "websocket.accept", "subprotocol": self._inner.subprotocol})
        await two_ways(self._inward(receive), self._outward(send))

    async def _open(self) -> None:
        inner = self._inner
        inner.send_request(inner.connect())
        await self._flush()
        try:
            async with asyncio.timeout(PATIENCE):
                while inner.state is State.CONNECTING and inner.handshake_exc is None:
                    await self._take()
        except TimeoutError:
            raise BadAnswer("the server inside did not answer in time") from None
        if inner.handshake_exc is not None:
            raise BadAnswer(f"the server inside takes no WebSocket here: {inner.handshake_exc}")

    async def _take(self) -> None:
        data = await self._pipe.read()
        if data:
            self._inner.receive_data(data)
        else:
            self._inner.receive_eof()

    async def _inward(self, receive: Receive) -> None:
        """Pass messages in. One that comes when the server inside has just closed goes nowhere."""
        with suppress(InvalidState, SandboxLost):
            while (message := await receive())["type"] == "websocket.receive":
                text = message.get("text")
                if text is not None:
                    self._inner.send_text(text.encode())
                else:
                    self._inner.send_binary(message["bytes"])
                await self._flush()
            self._inner.send_close(AWAY)
            await self._flush()

    async def _outward(self, send: Send) -> None:
        inner = self._inner
        while True:
            for event in inner.events_received():
                if isinstance(event, Frame):
                    await self._frame(event, send)
            await self._flush()
            if inner.state is not State.OPEN:
                break
            await self._take()
        said = inner.close_rcvd or inner.close_sent
        code, reason = (said.code, said.reason) if said is not None else (BROKEN, "")
        await send({"type": "websocket.close", "code": UNSAYABLE.get(code, code), "reason": reason})

    async def _frame(self, frame: Frame, send: Send) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
        self._pieces.append(bytes(frame.data))
        if not frame.fin:
            return
        data, self._pieces = b"".join(self._pieces), []
        try:
            await send({"type": "websocket.send", **({"text": data.decode()} if self._is_text else {"bytes": data})})
        except UnicodeDecodeError:
            self._inner.fail(NOT_TEXT)

    async def _flush(self) -> None:
        async with self._writing:
            data = b"".join(self._inner.data_to_send())
            if data:
                await self._pipe.write(data)
