"""CPU of a streamed token in the library: one stream of 1,000 tokens that come as fast as they can be read."""

import gc
import time
from collections.abc import Awaitable, Callable

from benchmarks import child
from benchmarks.figures import Figure, compared
from benchmarks.floor import Floor, client
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import AGENT, runtime
from talaria import Runtime

TITLE = "A streamed token, CPU"
TOKENS = 1_000


async def rounds(url: str, count: int, runs: int, tokens: int) -> dict[str, list[float]]:
    """CPU in µs of a token, by contender and round."""
    measured: dict[str, list[float]] = {"floor": [], "talaria": []}
    async with client() as http, runtime(url) as opened:
        for number in range(count + 1):
            floor = await _cost(lambda: _by_hand(Floor(http, url)), runs, tokens)
            talaria = await _cost(lambda: _by_talaria(opened), runs, tokens)
            if number:
                measured["floor"].append(floor)
                measured["talaria"].append(talaria)
    return measured


async def _by_hand(floor: Floor) -> int:
    seen = 0
    async for texts in floor.tokens("Tell me all of it."):
        for _ in texts:
            seen += 1
    return seen


async def _by_talaria(opened: Runtime) -> int:
    seen = 0
    async for event in opened.stream(AGENT, "Tell me all of it."):
        seen += event.type == "token"
    return seen


async def _cost(once: Callable[[], Awaitable[int]], runs: int, tokens: int) -> float:
    gc.collect()
    began = time.process_time()
    for _ in range(runs):
        seen = await once()
        assert seen == tokens, f"{seen} of {tokens} tokens came"
    return (time.process_time() - began) / runs / tokens * 1e6


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    figures: list[Figure] = []
    for name, gathered, bound in (("a chunk for each", 0, 2), ("chunks of 8 kB", 1, None)):
        url = Play(tokens=TOKENS, gathered=gathered).url(origin)
        got = child.run(rounds, url=url, count=size.rounds, runs=size.of(40), tokens=TOKENS)
        label = f"runtime.stream, {TOKENS:,} tokens in a burst, {name}"
        figures.append(compared(label, "µs", got["talaria"], got["floor"], bound=bound))
    return figures
