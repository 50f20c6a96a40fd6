"""The course of one model call: which model is asked next, with which key, after which wait, when one has failed."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from talaria.core.errors import Fault, ModelError
from talaria.models.provider import BUSY_REST, KEY_REST, REST, Provider
from talaria.models.retry import Retries, reason
from talaria.ports.clock import Clock
from talaria.ports.model import Connection, Restart

_OTHER_KEY = frozenset({Fault.KEY, Fault.MONEY, Fault.RATE})
_OTHER_MODEL = frozenset({Fault.KEY, Fault.MONEY, Fault.MODEL})


class Choice(NamedTuple):
    """A model, and the provider that has it."""

    model: str
    provider: Provider


class Course:
    """Goes through keys, attempts and fallback models, in this order, until there is nothing left to try."""

    def __init__(self, choices: Sequence[Choice], clock: Clock, jitter: Callable[[], float]) -> None:
        now = clock.now()
        rested = tuple([choice for choice in choices if choice.provider.rests_until <= now])
        self._choices = choices if len(rested) in (0, len(choices)) else rested
        self._next = 0
        self._clock = clock
        self._jitter = jitter
        self.reasoning_back = True
        """Whether earlier reasoning goes back: not after the provider has refused it."""
        self._begin(now)

    def _begin(self, now: int) -> None:
        self.model, self.provider = self._choices[self._next]
        self._next += 1
        self._retries = Retries(self.provider.route.retries, self._jitter)
        self._keys_left = max(0, len(self.provider.route.api_keys) - 1)
        self._take_key(now)

    def _take_key(self, now: int) -> None:
        self._key = self.provider.keys.take(now)
        self.connection: Connection = self.provider.connection(self.model, self._key)

    def after(self, error: ModelError) -> Restart | None:
        """Take the next step after an error; None when there is none."""
        if error.fault is Fault.REASONING and self.reasoning_back:
            self.reasoning_back = False
            return Restart("The model did not take its earlier reasoning back; it is asked again without.")
        if self._has_other_key(error):
            self._take_key(self._clock.now())
            return Restart("The model is asked again with another key.")
        wait = self._retries.next_wait(error)
        if wait is not None:
            self._take_key(self._clock.now())
            return Restart(reason(error), wait)
        if self._next < len(self._choices) and (error.retryable or error.fault in _OTHER_MODEL):
            return self._fall_back()
        return None

    def _has_other_key(self, error: ModelError) -> bool:
        if error.fault not in _OTHER_KEY or not self._keys_left:
            return False
        now = self._clock.now()
        asked = BUSY_REST if error.retry_after is None else int(error.retry_after * 1000)
        self.provider.keys.rest(self._key, now + (asked if error.fault is Fault.RATE else KEY_REST))
        self._keys_left -= 1
        return self.provider.keys.has_free(now)

    def _fall_back(self) -> Restart:
        failed = self.model
        now = self._clock.now()
        self.provider.rests_until = now + REST
        self._begin(now)
        return Restart(f"The model {failed} does not answer; {self.model} is asked instead.", 0.0, "replaced")
