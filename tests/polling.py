"""Waiting for real processes, the only place in the tests that sleeps: they have no event to wait for."""

import time
from collections.abc import Callable
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
