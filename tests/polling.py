"""Waiting for what has no event to wait for, such as real processes: the only place in the tests that sleeps."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(probe: Callable[[], T], what: str, limit: float = 10.0) -> T:
    """Return the first true answer of `probe`; after `limit` seconds fail, saying `what` did not happen."""
    end = time.monotonic() + limit
    while not (answer := probe()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {limit:g} s")
        time.sleep(0.02)  # noqa: TID251
    return answer


async def eventually(probe: Callable[[], Awaitable[T]], what: str, limit: float = 10.0) -> T:
    """Like `wait_until`, for what only a request can tell: the loop runs on meanwhile."""
    end = time.monotonic() + limit
    while not (answer := await probe()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {limit:g} s")
        await asyncio.sleep(0.005)
    return answer
