"""A server on loopback that sends what it is told, byte by byte if need be, and says what it was asked."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from talaria.fetch import Fetcher, Limits, Listed, Rules

Send = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """`asked` has the heads of requests and their bodies, `reached` the addresses at which they came."""

    port: int = 0
    asked: list[str] = field(default_factory=list[str])
    reached: list[str] = field(default_factory=list[str])

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(send: Send | bytes, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Server]:
    """Serve on all of loopback; `send` gets the request's head, or is what is always sent."""
    server = Server()

    tasks: set[asyncio.Task[object]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await talk(reader, writer)
        finally:
            writer.transport.abort()
            tasks.discard(task)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next((int(x.partition(":")[2]) for x in head.lower().split("\r\n") if "content-length" in x), 0)
            server.asked.append(head + (await reader.readexactly(length)).decode())
            server.reached.append(writer.get_extra_info("sockname")[0])
            if isinstance(send, bytes):
                writer.write(send)
            else:
                await send(head, writer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    listening = await asyncio.start_server(answer, "0.0.0.0", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Names:
    """Resolves names as it is told; `asked` has those that were looked up."""

    def __init__(self, **names: str | Sequence[str]) -> None:
        self.names = names
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self.names.get(host.partition(".")[0], ())
        return (found,) if isinstance(found, str) else found


GOOD = Listed(["good.test", "other.test"], "fetch.allowPrivate")
HERE = Names(good="127.0.0.1", other="127.0.0.1", evil="127.0.0.1")


@asynccontextmanager
async def fetching(
    resolve: Names = HERE, private: Listed | bool = GOOD, only: Listed | None = None, **limits: float
) -> AsyncGenerator[Fetcher]:
    """A fetcher to which good.test and other.test may be loopback, and nobody else."""
    every = Limits(**{"timeout": 5.0, **limits})  # pyright: ignore[reportArgumentType] - whole numbers are whole
    fetcher = Fetcher(Rules(only=only, private=private), every, resolve=resolve)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def reply(body: bytes = b"", status: str = "200 OK", *headers: str) -> bytes:
    """The bytes of an answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def moved(to: str, status: int = 302) -> bytes:
    """The bytes of a redirect."""
    return reply(b"", f"{status} Moved", f"Location: {to}")
