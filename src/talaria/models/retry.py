"""When a failed attempt is made again, and after how long: bounded in number and in time."""

import random
from collections.abc import Callable

from talaria.core.errors import ModelError, ModelUnavailable, StreamTruncated

CAP = 60.0
BUDGET = 120.0
BASE = 0.5
LONGEST_BACKOFF = 8.0


class Retries:
    """The attempts of one model call. Waits with full jitter, twice as long each time, or as the provider asks.

    A provider that asks for more than 60 s, or for more than is left of 120 s in all, is given up on.
    """

    __slots__ = ("_jitter", "_left", "_tried", "_waited")

    def __init__(self, retries: int, jitter: Callable[[], float] = random.random) -> None:
        self._left = retries
        self._tried = 0
        self._waited = 0.0
        self._jitter = jitter

    def next_wait(self, error: ModelError) -> float | None:
        """Return how long to wait before the next attempt, or None when there is to be none."""
        if self._tried >= self._left or not error.retryable:
            return None
        asked = error.retry_after
        if asked is None:
            wait = self._jitter() * min(LONGEST_BACKOFF, BASE * 2.0**self._tried)
        else:
            wait = asked * (1.0 + 0.1 * self._jitter())
        if (asked or 0.0) > CAP or self._waited + wait > BUDGET:
            return None
        self._tried += 1
        self._waited += wait
        return wait


def reason(error: ModelError) -> str:
    """Say to a person why the answer begins anew."""
    match error:
        case StreamTruncated():
            return "The model's answer broke off; it is asked again."
        case ModelUnavailable() if error.retry_after is not None:
            return "The model provider asks to wait; the model is asked again after that."
        case _:
            return "The model could not be reached or did not answer in time; it is asked again."
