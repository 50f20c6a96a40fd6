"""A conversation of 200 turns on SQLite, each with a tool call whose result is 1 kB: what turns cost as it grows."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import child
from benchmarks.figures import Figure, compared, plain
from benchmarks.floor import Arguments, Floor, client
from benchmarks.machine import MIB, disk, middle
from benchmarks.mock_model import Play
from benchmarks.size import Size
from benchmarks.subject import runtime, sqlite
from talaria import Agent, tool

TURNS = 200
TITLE = f"A conversation of {TURNS} turns on SQLite, results of 1 kB"
RESULT = "0123456789abcdef" * 64
AROUND = 5
QUERY = "And how is the next one of my orders?"


@tool
async def look_up(order_id: str, amount: int, note: str = "") -> str:
    """Look up an order.

    Args:
        order_id: The order.
        amount: How much it is about.
        note: What to keep in mind.
    """
    return RESULT


async def _body(_: Arguments) -> str:
    return RESULT


async def by_hand(url: str, turns: int) -> dict[str, Any]:
    """The floor, which commits each message to a file."""
    with TemporaryDirectory() as folder:
        async with client() as http:
            floor = Floor(http, url, body=_body, keep=f"{folder}/floor.db")
            costs = await _turns(lambda: floor.run(QUERY), turns)
            floor.close()
        return {"costs": costs, "disk": disk(Path(folder)) / MIB}


async def by_talaria(url: str, turns: int) -> dict[str, Any]:
    """One session of a runtime."""
    agent = Agent("orders", model="mock", instructions="You look after orders.", tools=[look_up])
    with TemporaryDirectory() as folder:
        async with runtime(url, sqlite(folder)) as opened:
            costs = await _turns(lambda: opened.run(agent, QUERY, session="long"), turns)
        return {"costs": costs, "disk": disk(Path(folder)) / MIB}


async def _turns(turn: Callable[[], Awaitable[object]], count: int) -> list[float]:
    costs: list[float] = []
    for _ in range(count):
        began = time.process_time()
        await turn()
        costs.append((time.process_time() - began) * 1000)
    return costs


def _at(costs: list[float], turn: int) -> float:
    """The median of the turns around one."""
    end = min(turn + AROUND, len(costs))
    return middle(costs[max(0, end - 2 * AROUND) : end])


def measure(origin: str, size: Size) -> list[Figure]:
    """Measure."""
    url, turns = Play(calls=1).url(origin), size.of(TURNS)
    hand: list[dict[str, Any]] = []
    mine: list[dict[str, Any]] = []
    for _ in range(max(1, size.rounds - 2)):
        hand.append(child.run(by_hand, url=url, turns=turns))
        mine.append(child.run(by_talaria, url=url, turns=turns))
    is_full = turns == TURNS
    figures = [
        compared(
            f"CPU of turn {at}", "ms", _each(mine, at), _each(hand, at), bound=3 if is_full and at == 200 else None
        )
        for at in (10, 50, 200)
    ]
    if is_full:
        grown = [late - early for late, early in zip(_each(mine, 200), _each(mine, 10), strict=True)]
        floor = [late - early for late, early in zip(_each(hand, 200), _each(hand, 10), strict=True)]
        figures.append(compared("growth from turn 10 to 200", "ms", grown, floor, bound=1.5))
    on_disk = [one["disk"] for one in mine]
    return [
        *figures,
        plain("on disk", "MB", on_disk, most=1.5),
        compared("on disk, beside the messages alone", "MB", on_disk, [one["disk"] for one in hand]),
    ]


def _each(rounds: list[dict[str, Any]], turn: int) -> list[float]:
    return [_at(one["costs"], turn) for one in rounds]
