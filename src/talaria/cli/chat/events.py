"""Events as a client gets them: bytes of a stream in, events out."""

import json
from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, gc=False):
    """An event: its id ("" for heartbeats and notices), its type, its JSON, and when it came (seconds)."""

    id: str
    type: str
    body: dict[str, Any]
    at: float = 0.0

    @property
    def text(self) -> str:
        """The data of an event, as text."""
        data = self.body.get("data", "")
        return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def notice(text: str, at: float = 0.0) -> Event:
    """A notice of the client's own."""
    return Event("", "notice", {"type": "notice", "data": text}, at)


class EventParser:
    """Parses one stream of this server: LF between lines, a blank line after each event."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes, at: float) -> list[Event]:
        """Return the events that these bytes complete."""
        *blocks, self._rest = (self._rest + data).split(b"\n\n")
        return [event for block in blocks if (event := _event(block.decode(), at)) is not None]


def _event(block: str, at: float) -> Event | None:
    id_, data = "", list[str]()
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        if name == "id":
            id_ = value.removeprefix(" ")
        elif name == "data":
            data.append(value.removeprefix(" "))
    if not data:
        return None
    body = json.loads("\n".join(data))
    return Event(id_, str(body.get("type", "")), body, at)
