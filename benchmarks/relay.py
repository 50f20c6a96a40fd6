"""A token through the server: out of the model's stream, into the client's SSE stream over HTTP."""

import asyncio
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from benchmarks import relay_servers
from benchmarks.child import ROOT, command
from benchmarks.figures import Figure, compared
from benchmarks.machine import cpu_of
from benchmarks.mock_model import Play
from benchmarks.size import Size

TITLE = "A token relayed by the server, CPU"
BURST = Play(tokens=1_000)
PACED = Play(tokens=100, pace=20)
AT_ONCE = 20
BODY = b'{"query":"Tell me all of it."}'


class Server:
    """A server under load: its process and its address."""

    def __init__(self, pid: int, url: str) -> None:
        parts = urlsplit(url)
        self.pid = pid
        self._host, self._port = parts.hostname or "", parts.port or 0

    async def stream(self) -> int:
        """Read one stream to its end; return how many tokens came."""
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            writer.write(
                b"POST /ai-api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                b"connection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
            )
            answer = await reader.read(-1)
        finally:
            writer.close()
        assert b'"type":"finish"' in answer, f"the stream ended without a finish: {answer[-300:]!r}"
        return answer.count(b'"type":"token"')


@contextmanager
def serving(function: Callable[[str], None], url: str) -> Generator[Server]:
    """Run a server in a process of its own for as long as the block lasts."""
    line = command(f"{relay_servers.__name__}:{function.__name__}", {"url": url})
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(process.pid, process.stdout.readline().strip())
        finally:
            process.terminate()


async def cost(server: Server, play: Play, times: int, at_once: int) -> float:
    """CPU in µs that the server takes for a token."""
    began = cpu_of(server.pid)
    for _ in range(times):
        seen = await asyncio.gather(*(server.stream() for _ in range(at_once)))
        assert set(seen) == {play.tokens}, f"{seen} tokens came, not {play.tokens} each"
    return (cpu_of(server.pid) - began) / (times * at_once * play.tokens) * 1e6


async def _rounds(origin: str, play: Play, size: Size, times: int, at_once: int) -> Figure:
    url, hand, mine = play.url(origin), list[float](), list[float]()
    with serving(relay_servers.by_hand, url) as bare, serving(relay_servers.by_talaria, url) as talaria:
        for number in range(size.rounds + 1):
            for server, values in ((bare, hand), (talaria, mine)):
                value = await cost(server, play, times, at_once)
                if number:
                    values.append(value)
    how = f"{at_once} streams, {play.pace} ms apart" if play.pace else "one stream, 1,000 tokens in a burst"
    return compared(how, "µs", mine, hand)


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    burst = asyncio.run(_rounds(origin, BURST, size, size.of(30), 1))
    paced = asyncio.run(_rounds(origin, PACED, size, 1, size.of(AT_ONCE)))
    return [burst, paced]
