"""A token through the server: out of the model's stream, into the client's SSE stream over HTTP.

The floor is a sum: what the client by hand takes for a token, and what a bare ASGI application takes for an event that
is written alone. `relayed by hand` is both in one process, where a burst's events share a write.
"""

import asyncio
import time

from benchmarks import child, relay_servers
from benchmarks.figures import Figure, compared
from benchmarks.floor import Floor, client
from benchmarks.machine import cpu_of
from benchmarks.mock_model import Play
from benchmarks.served import Server, serving
from benchmarks.size import Size

TITLE = "A token relayed by the server, CPU"
BURST = Play(tokens=1_000)
PACED = Play(tokens=100, pace=20)
AT_ONCE = 100


async def cost(server: Server, play: Play, times: int, at_once: int) -> float:
    """CPU in µs that the server takes for a token."""
    began = cpu_of(server.pid)
    for _ in range(times):
        seen = await asyncio.gather(*(server.tokens() for _ in range(at_once)))
        assert set(seen) == {play.tokens}, f"{seen} tokens came, not {play.tokens} each"
    return (cpu_of(server.pid) - began) / (times * at_once * play.tokens) * 1e6


async def client_cost(url: str, times: int, at_once: int) -> float:
    """CPU in µs that the client by hand takes for a token."""
    async with client() as http:
        await asyncio.gather(*(_read(Floor(http, url)) for _ in range(at_once)))
        began = time.process_time()
        for _ in range(times):
            seen = await asyncio.gather(*(_read(Floor(http, url)) for _ in range(at_once)))
        spent = time.process_time() - began
    return spent / (times * sum(seen)) * 1e6


async def _read(floor: Floor) -> int:
    return sum([len(texts) async for texts in floor.tokens("Tell me all of it.")])


async def _rounds(origin: str, play: Play, size: Size, times: int, at_once: int) -> list[Figure]:
    url, relayed, mine, sums = play.url(origin), list[float](), list[float](), list[float]()
    with (
        serving(relay_servers.by_hand, url=url) as bare,
        serving(relay_servers.by_talaria, url=url) as talaria,
        serving(relay_servers.events_only, url=url) as events,
    ):
        for number in range(size.rounds + 1):
            costs = [await cost(server, play, times, at_once) for server in (bare, talaria, events)]
            asked = await asyncio.to_thread(child.run, client_cost, url=url, times=times, at_once=at_once)
            if number:  # the round before warms up
                relayed.append(costs[0])
                mine.append(costs[1])
                sums.append(costs[2] + asked)
    how = f"{at_once} clients, {play.pace} ms apart" if play.pace else "1 client, 1,000 tokens in a burst"
    return [
        compared(how, "µs", mine, sums, bound=2 if size.share == 1 else None),
        compared(f"{how}, beside one relayed by hand", "µs", mine, relayed),
    ]


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    burst = asyncio.run(_rounds(origin, BURST, size, size.of(30), 1))
    paced = asyncio.run(_rounds(origin, PACED, size, 1, size.of(AT_ONCE)))
    return [*burst, *paced]
