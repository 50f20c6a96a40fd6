"""Server-sent events as the specification parses them: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_LINE = re.compile(r"\r\n|\n|\r")


class Event(NamedTuple):
    """One event: its id, if it brought one, and its data, decoded."""

    id: str | None
    data: dict[str, Any]

    @property
    def type(self) -> str:
        return self.data["type"]


class Parser:
    """Takes bytes as they come; yields whole events."""

    def __init__(self) -> None:
        self._rest = b""
        self.comments = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield the events that these bytes complete."""
        *blocks, self._rest = (self._rest + data).split(b"\n\n")
        for block in blocks:
            event = self._event(block.decode())
            if event is not None:
                yield event

    def _event(self, block: str) -> Event | None:
        id_: str | None = None
        data: list[str] = []
        for line in _LINE.split(block):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            assert name in ("", "id", "data"), f"the server sent the field {name!r}"
            if name == "id":
                id_ = value
            elif name == "data":
                data.append(value)
            elif line:
                self.comments += 1
        return Event(id_, json.loads("\n".join(data))) if data else None


def parse(data: bytes) -> list[Event]:
    """Return all events of a whole body."""
    return list(Parser().feed(data))


def text_of(events: list[Event], kind: str = "token") -> str:
    """What a client shows after these events: texts joined, what a rewind drops left out."""
    said: list[tuple[str | None, str]] = []
    for event in events:
        if event.type == "rewind":
            keep = next(at for at, (id_, _) in enumerate(said) if id_ == event.data["data"])
            del said[keep + 1 :]
        else:
            said.append((event.id, event.data["data"] if event.type == kind else ""))
    return "".join(text for _, text in said)
