"""A server under load: a process of its own, and a client that costs it no more than it must."""

import asyncio
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from benchmarks.child import ROOT, command

CHAT = "/ai-api/chat/stream"
BODY = b'{"query":"Tell me all of it."}'


class Server:
    """A server's process and its address."""

    def __init__(self, pid: int, url: str) -> None:
        parts = urlsplit(url)
        self.pid = pid
        self.host, self.port = parts.hostname or "", parts.port or 0

    async def stream(self, body: bytes = BODY) -> bytes:
        """Have one turn and read its stream to the end."""
        reader, writer = await self.open(body)
        try:
            answer = await reader.read(-1)
        finally:
            writer.close()
        assert b'"type":"finish"' in answer, f"the stream ended without a finish: {answer[-300:]!r}"
        return answer

    async def tokens(self) -> int:
        """Have one turn; return how many tokens came."""
        return (await self.stream()).count(b'"type":"token"')

    async def open(self, body: bytes = BODY) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Ask for one turn; return what its answer comes from."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(
            b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"connection: close\r\ncontent-length: %d\r\n\r\n%b" % (CHAT.encode(), len(body), body)
        )
        return reader, writer


@contextmanager
def serving(function: Callable[..., None], **arguments: Any) -> Generator[Server]:
    """Run a server in a process of its own for as long as the block lasts."""
    line = command(f"{function.__module__}:{function.__name__}", arguments)
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(process.pid, process.stdout.readline().strip())
        finally:
            process.terminate()
