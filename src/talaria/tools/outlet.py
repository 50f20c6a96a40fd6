"""What a tool says to the client while it runs: handed over from any thread, masked, gathered, and bounded."""

import asyncio
import threading
from contextlib import suppress
from typing import Any, cast

import msgspec

from talaria.core.errors import JournalError
from talaria.core.redaction import Redactor
from talaria.core.text import TextJoiner, valid_text
from talaria.tools.chain import CallContext
from talaria.tools.errors import ResultInvalid
from talaria.tools.result import result_text

LONGEST_NAME = 128
EVENT_BYTES = 32 * 1024
"""Bytes of JSON in one event."""
ALL_EVENTS_BYTES = 1024 * 1024
"""Bytes of JSON in all events of one attempt at a call."""
EVENT_COST = 64
"""Bytes that an event counts beside its data."""
PIECE = 4096
"""Characters of output in one event."""
GATHER = 0.1
"""Seconds between two writings of output."""

_encode = msgspec.json.Encoder().encode


class EventBudget:
    """Checks the events of one attempt at a call, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used = 0

    def check(self, name: str, data: Any) -> Any:
        """Return a copy of `data` as JSON values (see `ToolContext.emit` for what is refused)."""
        if not 1 <= len(name) <= LONGEST_NAME:
            raise ValueError(f"emit: a name has 1 to {LONGEST_NAME} characters, not {len(name)}")
        value, size = json_value(name, data)
        with self._lock:
            self._used += size + EVENT_COST
            if self._used > ALL_EVENTS_BYTES:
                raise ValueError(f"emit: the events of this call exceed {ALL_EVENTS_BYTES} bytes; say less")
        return value


class CallOutlet:
    """Takes what one attempt at a call says, and records it on the event loop, until it is closed."""

    def __init__(self, context: CallContext) -> None:
        self._run = context.run
        self._call = context.call
        self._limit = context.tool.result_limit or context.run.run.turn.limits.result_limit
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._lock = threading.Lock()  # of what other threads write: the next three
        self._waiting: list[tuple[str | None, Any]] = []
        self._is_called = False
        self._said = 0
        self._budget = EventBudget()
        self._joiner = TextJoiner()
        self._text = ""
        self._timer: asyncio.TimerHandle | None = None
        self._is_open = True

    def emit(self, name: str, data: Any) -> None:
        """Take an event for the client (see `ToolContext.emit`)."""
        self._hand_over(valid_text(name), self._budget.check(name, data))

    def output(self, text: str) -> None:
        """Take a piece of text for the client (see `ToolContext.output`)."""
        with self._lock:
            room = self._limit - self._said
            self._said += len(text)
        if room < 0 or not text:
            return
        if len(text) > room:
            text = f"{text[:room]}\n[… more than {self._limit} characters of output; the rest is not shown …]\n"
        self._hand_over(None, text)

    def close(self) -> None:
        """Say what is left. Called on the loop; what comes later, from a thread that was left behind, is dropped."""
        self._take()
        self._is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self._text += self._joiner.end()
        rest, self._text = self._run.redactor.mask(self._text), ""
        self._record_output(rest)

    def _hand_over(self, name: str | None, value: Any) -> None:
        with self._lock:
            self._waiting.append((name, value))
            is_called, self._is_called = self._is_called, True
        if threading.get_ident() == self._thread:
            self._take()
        elif not is_called:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self._take)

    def _take(self) -> None:
        with self._lock:
            waiting, self._waiting, self._is_called = self._waiting, [], False
        for name, value in waiting if self._is_open else ():
            if name is None:
                self._gather(value)
            else:
                self._write()
                with suppress(JournalError):  # the run is told so when the call ends
                    masked = mask_value(self._run.redactor, value)
                    self._run.emit(self._call, self._run.redactor.mask(name), masked)

    def _gather(self, text: str) -> None:
        self._text += self._joiner.feed(text)
        if self._timer is None:
            self._tick()

    def _tick(self) -> None:
        """Write what there is, and then nothing for a while; without anything to write, the next text goes at once."""
        said = self._write()
        self._timer = self._loop.call_later(GATHER, self._tick) if said else None

    def _write(self) -> bool:
        text, self._text = self._run.redactor.split(self._text)
        self._record_output(text)
        return bool(text)

    def _record_output(self, text: str) -> None:
        with suppress(JournalError):
            for at in range(0, len(text), PIECE):
                self._run.output(self._call, text[at : at + PIECE])


def json_value(name: str, data: Any) -> tuple[Any, int]:
    """Return a copy of `data` as JSON values, and the bytes of its JSON.

    Raises:
        TypeError: it has no JSON form.
        ValueError: it is too large.
    """
    try:
        value = msgspec.json.decode(result_text({"data": data}))["data"]
        size = len(_encode(value))
    except (ResultInvalid, ValueError, OverflowError, RecursionError) as error:
        raise TypeError(f"emit('{name}'): the data has no JSON form: {error}") from error
    if size > EVENT_BYTES:
        raise ValueError(f"emit('{name}'): the data has {size} bytes of JSON; {EVENT_BYTES} are the limit")
    return value, size


def mask_value(redactor: Redactor, value: Any) -> Any:
    """Return a JSON value with the secrets masked in all its texts, names and numbers."""
    if not redactor:
        return value
    match value:
        case str():
            return redactor.mask(value)
        case list():
            return [mask_value(redactor, each) for each in cast("list[Any]", value)]
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {redactor.mask(name): mask_value(redactor, each) for name, each in items}
        case int() | float():
            text = str(value)
            return value if redactor.mask(text) == text else redactor.mask(text)
        case _:
            return value
