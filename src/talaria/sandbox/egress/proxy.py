"""The proxy that commands of a sandbox are told to use. It runs at the host, at the other end of a pipe."""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

import structlog

from talaria.core.errors import SandboxLost
from talaria.sandbox.egress.allowed import Allowed, normal
from talaria.sandbox.egress.head import BadRequest, Head, parse

_log = structlog.get_logger(__name__)

HEAD_LIMIT = 16 * 1024
_PIECE = 64 * 1024

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class HalfPipe(Protocol):
    """A pipe whose sending side can be ended alone."""

    async def read(self) -> bytes:
        """The next bytes; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send bytes."""
        ...

    def end(self) -> None:
        """Send no more."""
        ...


async def addresses(host: str, port: int) -> Sequence[str]:
    """Return what a name leads to, as this machine resolves it."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


class EgressProxy:
    """Passes on requests to what is allowed, connects to the very address that was checked, and refuses the rest.

    `head_seconds` is how long the beginning of a request may take, `idle_seconds` how long nothing may be said.
    """

    def __init__(
        self,
        allowed: Allowed,
        *,
        resolve: Resolve = addresses,
        head_seconds: float = 10,
        connect_seconds: float = 10,
        idle_seconds: float = 300,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._head_seconds = head_seconds
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds

    async def serve(self, pipe: HalfPipe) -> None:
        """Serve one connection."""
        try:
            head, rest = await self._head(pipe)
            reader, writer = await self._connect(head)
        except BadRequest as bad:
            await pipe.write(_refusal(bad))
            return
        try:
            await self._relay(pipe, head, rest, reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _head(self, pipe: HalfPipe) -> tuple[Head, bytes]:
        data = b""
        try:
            async with asyncio.timeout(self._head_seconds):
                while b"\r\n\r\n" not in data[:HEAD_LIMIT]:
                    part = await pipe.read()
                    data += part
                    if not part or len(data) > HEAD_LIMIT:
                        raise BadRequest(
                            "431 Request Header Fields Too Large", "The request has no end, or is too long."
                        )
        except TimeoutError:
            raise BadRequest("408 Request Timeout", "The request took too long.") from None
        head, _, rest = data.partition(b"\r\n\r\n")
        return parse(head), rest

    async def _connect(self, head: Head) -> tuple[StreamReader, StreamWriter]:
        host = normal(head.host)
        if not self._allowed.has(host, head.port):
            _log.info("sandbox.egress_refused", host=host, port=head.port)
            raise BadRequest("403 Forbidden", f"{host}:{head.port} is not on this sandbox's list of hosts.")
        try:
            async with asyncio.timeout(self._connect_seconds):
                found = await self._resolve(host, head.port)
                good = [address for address in found if self._allowed.reachable(address, head.port)]
                if found and not good:
                    raise BadRequest("403 Forbidden", f"{host} leads to an address that is not public.")
                return await _first(good, head.port)
        except (OSError, UnicodeError):
            raise BadRequest("502 Bad Gateway", f"{host}:{head.port} cannot be reached.") from None

    async def _relay(self, pipe: HalfPipe, head: Head, rest: bytes, reader: StreamReader, writer: StreamWriter) -> None:
        if head.tunnel:
            await pipe.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        writer.write(head.passed)
        with suppress(OSError, TimeoutError, SandboxLost):
            sending = asyncio.create_task(self._send(pipe, rest, None if head.tunnel else head.body, writer))
            try:
                await self._receive(pipe, reader)
                if head.tunnel:
                    await sending
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    async def _send(self, pipe: HalfPipe, data: bytes, left: int | None, writer: StreamWriter) -> None:
        while left is None or left > 0:
            if not data:
                async with asyncio.timeout(self._idle_seconds):
                    data = await pipe.read()
                if not data:
                    break
            data = data if left is None else data[:left]
            left = None if left is None else left - len(data)
            writer.write(data)
            data = b""
            async with asyncio.timeout(self._idle_seconds):
                await writer.drain()
        if left is None and writer.can_write_eof():
            writer.write_eof()

    async def _receive(self, pipe: HalfPipe, reader: StreamReader) -> None:
        while True:
            async with asyncio.timeout(self._idle_seconds):
                data = await reader.read(_PIECE)
            if not data:
                pipe.end()
                return
            async with asyncio.timeout(self._idle_seconds):
                await pipe.write(data)


async def _first(found: Sequence[str], port: int) -> tuple[StreamReader, StreamWriter]:
    last = OSError("the name leads nowhere")
    for address in found[:4]:
        try:
            return await asyncio.open_connection(address, port)
        except OSError as error:
            last = error
    raise last


def _refusal(bad: BadRequest) -> bytes:
    body = f"{bad.words}\n".encode()
    head = f"HTTP/1.1 {bad.status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body
