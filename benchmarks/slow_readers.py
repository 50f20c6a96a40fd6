"""1,000 clients that read a live stream more slowly than it comes: what the server's other runs notice of them."""

import asyncio
import json
import resource
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from benchmarks import relay_servers
from benchmarks.figures import Figure, compared, plain
from benchmarks.machine import MIB, cpu_of, memory_of, middle
from benchmarks.mock_model import Play
from benchmarks.served import Server, serving
from benchmarks.size import Size

READERS = 1_000
TITLE = f"{READERS:,} slow readers of one live stream"
LONG = Play(tokens=60_000, pace=2)
OTHER = Play(calls=1, tokens=20, delay=100, pace=5)
AT_ONCE, TURNS = 5, 20
AHEAD = 4.0
"""Seconds that the stream is ahead of its readers, who come late."""
BYTES = 1_024
"""What a reader takes in a second; about 50,000 come."""
SEGMENT, WINDOW = 1_400, 4_096
"""Bytes, as over an ordinary network: on loopback the kernel would keep megabytes for each reader."""
OTHERS = b'{"query":"Look up my order.","agent":"orders"}'


class Readers:
    """Clients that follow a run slowly, each a socket."""

    def __init__(self, server: Server, run_id: str) -> None:
        self._where = (server.host, server.port)
        self._head = b"GET /ai-api/runs/%b/events HTTP/1.1\r\nhost: localhost\r\n\r\n" % run_id.encode()
        self._sockets: list[socket.socket] = []
        self.taken = 0

    async def open(self, count: int) -> None:
        """Connect so many."""
        loop = asyncio.get_running_loop()
        for _ in range(count):
            each = socket.socket()
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW)
            each.setblocking(False)
            await loop.sock_connect(each, self._where)
            await loop.sock_sendall(each, self._head)
            self._sockets.append(each)

    async def read(self) -> None:
        """Let every one take `BYTES` a second, spread over it."""
        while True:
            for at, each in enumerate(self._sockets):
                with suppress(BlockingIOError):
                    self.taken += len(each.recv(BYTES))
                if at % 20 == 19:
                    await asyncio.sleep(20 / len(self._sockets))
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Leave."""
        for each in self._sockets:
            each.close()


@asynccontextmanager
async def reading(server: Server, run_id: str, count: int) -> AsyncGenerator[Readers]:
    """So many slow readers, for as long as the block lasts."""
    readers = Readers(server, run_id)
    await readers.open(count)
    task = asyncio.create_task(readers.read())
    try:
        await asyncio.sleep(AHEAD)  # until their buffers are full
        yield readers
    finally:
        task.cancel()
        readers.close()


async def latency(server: Server, turns: int) -> float:
    """The median ms of a turn of another session."""

    async def one() -> float:
        began = time.perf_counter()
        await server.stream(OTHERS)
        return (time.perf_counter() - began) * 1000

    took: list[float] = []
    for _ in range(turns):
        took += await asyncio.gather(*(one() for _ in range(AT_ONCE)))
    return middle(took)


@asynccontextmanager
async def long_run(server: Server) -> AsyncGenerator[str]:
    """A run that streams meanwhile, with one client that reads as fast as it comes; gives its id."""
    reader, writer = await server.open(json.dumps({"query": "Go on and on.", "modelName": "long"}).encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    run_id = head.split("x-run-id: ")[1].split()[0]

    async def follow() -> None:
        while await reader.read(65_536):
            pass

    task = asyncio.create_task(follow())
    try:
        yield run_id
    finally:
        task.cancel()
        writer.close()


async def _rounds(server: Server, size: Size) -> list[Figure]:
    without, among, cpu, held = list[float](), list[float](), list[float](), list[float]()
    turns, count = size.of(TURNS), size.of(READERS)
    for _ in range(max(1, size.rounds - 2)):
        async with long_run(server) as run_id:
            await asyncio.sleep(AHEAD)
            without.append(await latency(server, turns))
            before = memory_of(server.pid)
            async with reading(server, run_id, count) as readers:
                began, clock = cpu_of(server.pid), time.perf_counter()
                among.append(await latency(server, turns))
                cpu.append((cpu_of(server.pid) - began) / (time.perf_counter() - clock) * 100)
                held.append((memory_of(server.pid) - before) / MIB)
                assert readers.taken, "nobody has read anything"
    bound = 1.1 if size.share == 1 else None
    return [
        compared(f"another run's latency among {count:,} readers, beside none", "ms", among, without, bound=bound),
        plain("CPU of the server meanwhile", "%", cpu),
        plain("memory of the server for them", "MB", held),
    ]


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192) if hard > 0 else 8_192, hard))
    with serving(relay_servers.with_a_long_run, url=OTHER.url(origin), long=LONG.url(origin)) as server:
        return asyncio.run(_rounds(server, size))
