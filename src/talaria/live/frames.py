"""A frame: one event with its place, encoded at most once however many clients read it."""

from typing import Any

import msgspec

from talaria.core.events import ChatEvent, Position, write_position

OVERHEAD = 360
"""About how many bytes a frame takes beside its text."""

_encode = msgspec.json.Encoder().encode
_ESCAPES = ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"), (b"\xc2\x85", rb"\u0085"))


class Frame(msgspec.Struct, gc=False):
    """An event of a run.

    `position` is None for what carries no id (heartbeats, notices). `durable` is the seq of the entry with which it
    is in the journal, 0 as long as it is in none.
    """

    position: Position | None
    event: ChatEvent
    durable: int = 0
    _bytes: bytes | None = None

    @property
    def size(self) -> int:
        """About how much memory it takes, in bytes."""
        return OVERHEAD + _size(self.event.data) + (len(self._bytes) if self._bytes else 0)

    def sse(self, run: bytes) -> bytes:
        """The event as SSE bytes: an id line unless it has no position, one data line, a blank line."""
        if self._bytes is None:
            self._bytes = encode_sse(run, self.position, self.event)
        return self._bytes


def _size(data: Any) -> int:
    match data:
        case str():
            return len(data)
        case dict() | list():
            return len(_encode(data))
        case _:
            return 0


def encode_sse(run: bytes, position: Position | None, event: ChatEvent) -> bytes:
    """Encode an event; its data is one line of JSON that no line separator can split."""
    data = _encode(event)
    if not data.isascii():
        for raw, escaped in _ESCAPES:
            data = data.replace(raw, escaped)
    if position is None:
        return b"data: %b\n\n" % data
    return b"id: %b/%b\ndata: %b\n\n" % (run, write_position(position).encode(), data)
