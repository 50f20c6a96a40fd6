"""Commands reach what is listed, through the proxy, and nothing else."""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from talaria.ports.sandbox import Command
from talaria.sandbox.agent_sandbox import AgentSandbox
from talaria.sandbox.egress import Allowed, EgressProxy
from tests.sandbox.bare import bare_sandbox

_FETCH = """
import os, sys, urllib.request, urllib.error
try: print(urllib.request.urlopen(sys.argv[1], data=sys.argv[2].encode() if sys.argv[2:] else None, timeout=20).read())
except urllib.error.HTTPError as error: print(error.code, error.read().decode().strip())
"""
_TUNNEL = """
import os, socket, sys
host, port = os.environ["https_proxy"].removeprefix("http://").split(":")
with socket.create_connection((host, int(port)), timeout=20) as sock:
    sock.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\\r\\n\\r\\nping".encode())
    sock.shutdown(socket.SHUT_WR)
    while data := sock.recv(65536): sys.stdout.buffer.write(data)
"""
_STALL = """
import os, socket, sys
host, port = os.environ["http_proxy"].removeprefix("http://").split(":")
with socket.create_connection((host, int(port)), timeout=20) as sock:
    sock.sendall(b"GET http://" + b"x" * int(sys.argv[1]))
    print(sock.recv(100).split(b"\\r\\n")[0])
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Outside:
    """A host outside: it answers HTTP with what it got, and anything else in upper case."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.port = 0

    async def answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        data = await reader.read(65536)
        if data.startswith((b"GET", b"POST")):
            head, _, body = data.partition(b"\r\n\r\n")
            if head.startswith(b"POST") and not body:
                body = await reader.read(65536)
            answer = head.split(b"\r\n")[0] + b" " + body
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        else:
            writer.write(data.upper() * 20_000)
        await writer.drain()
        writer.close()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.names.append(host)
        return {"good.example": ["127.0.0.1"], "private.example": ["127.0.0.2", "::1"]}.get(host, [])


@asynccontextmanager
async def behind_proxy(folder: Path, **limits: float) -> AsyncGenerator[tuple[AgentSandbox, Outside]]:
    """Run a sandbox that may reach good.example, and something there."""
    outside = Outside()
    async with await asyncio.start_server(outside.answer, "127.0.0.1", 0) as server:
        port = outside.port = server.sockets[0].getsockname()[1]
        allowed = Allowed(
            [f"good.example:{port}", f"private.example:{port}", f"gone.example:{port}", f"127.0.0.1:{port}"]
        )
        proxy = EgressProxy(allowed, resolve=outside.resolve, **limits)
        async with bare_sandbox(folder, proxy=proxy.serve, egress=free_port()) as sandbox:
            yield sandbox, outside


async def run(sandbox: AgentSandbox, program: str, *words: str) -> bytes:
    done = await sandbox.exec(Command(argv=["python3", "-c", program, *words], timeout=30, head=1_000_000))
    return done.head


async def test_a_listed_host_is_reached(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path) as (sandbox, outside):
        assert await run(sandbox, _FETCH, f"http://good.example:{outside.port}/a?b") == b"b'GET /a?b HTTP/1.1 '\n"
        assert (
            await run(sandbox, _FETCH, f"http://good.example:{outside.port}/", "body") == b"b'POST / HTTP/1.1 body'\n"
        )


async def test_a_tunnel_carries_any_bytes_both_ways(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path) as (sandbox, outside):
        answer = await run(sandbox, _TUNNEL, f"good.example:{outside.port}")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n" + b"PING" * 20_000


async def test_a_host_that_is_not_listed_is_neither_reached_nor_looked_up(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path) as (sandbox, outside):
        for host in (f"evil.example:{outside.port}", "good.example:1", "1.1.1.1:443"):
            assert b"is not on this sandbox's list" in await run(sandbox, _FETCH, f"http://{host}/")
            assert (await run(sandbox, _TUNNEL, host)).startswith(b"HTTP/1.1 403 ")
        assert outside.names == []


async def test_a_listed_name_that_leads_to_a_private_address_is_refused(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path) as (sandbox, outside):
        answer = await run(sandbox, _FETCH, f"http://private.example:{outside.port}/")
    assert answer == b"403 private.example leads to an address that is not public.\n"


async def test_a_name_that_leads_nowhere_is_said_to(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path) as (sandbox, outside):
        answer = await run(sandbox, _FETCH, f"http://gone.example:{outside.port}/")
    assert answer == b"502 gone.example:%d cannot be reached.\n" % outside.port


async def test_a_slow_beginning_and_one_too_long_are_ended(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, head_seconds=0.5) as (sandbox, _):
        assert await run(sandbox, _STALL, "10") == b"b'HTTP/1.1 408 Request Timeout'\n"
        assert await run(sandbox, _STALL, "40000") == b"b'HTTP/1.1 431 Request Header Fields Too Large'\n"


async def test_many_connections_are_served_at_once_and_none_is_left(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path) as (sandbox, outside):
        url = f"http://good.example:{outside.port}/"
        answers = await asyncio.gather(*(run(sandbox, _FETCH, url) for _ in range(5)))
        assert answers == [b"b'GET / HTTP/1.1 '\n"] * 5
