"""What a client has of a run: every event in order, `rewind` honoured, and what follows from them."""

from typing import Any

import msgspec

_TEXTS = ("token", "reasoning")


class Event(msgspec.Struct, frozen=True, gc=False):
    """An event as it came: its id ("" for heartbeats and notices), its type, and the whole of its JSON."""

    id: str
    type: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The data of an event, as text."""
        return str(self.body.get("data", ""))


class Transcript:
    """Takes events as they come. `last_id` is where to go on after a lost connection."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.last_id = ""
        self.rewinds = 0

    def take(self, event: Event) -> None:
        """Add an event; after a `rewind` the text behind the event that it names is dropped, since it is said again."""
        if event.type == "rewind":
            self._drop_text_after(event.text)
            self.rewinds += 1
        self.events.append(event)
        self.last_id = event.id or self.last_id

    @property
    def run_id(self) -> str:
        """The run's id, "" as long as it is unknown."""
        return next((event.text for event in self.events if event.type == "run_started"), "")

    @property
    def end(self) -> Event | None:
        """The `finish` or `error` with which the run ended."""
        return next((event for event in reversed(self.events) if event.type in ("finish", "error")), None)

    @property
    def text(self) -> str:
        """All that the model has said, joined."""
        return "".join(event.text for event in self.events if event.type == "token")

    @property
    def reasoning(self) -> str:
        """All that the model has thought, joined."""
        return "".join(event.text for event in self.events if event.type == "reasoning")

    @property
    def answer(self) -> str:
        """What the model has said since the last tool call."""
        last = max((n for n, event in enumerate(self.events) if event.type.startswith("tool_")), default=-1)
        return "".join(event.text for event in self.events[last + 1 :] if event.type == "token")

    def calls(self) -> dict[str, dict[str, Any]]:
        """The tool calls that the model has decided on, by id."""
        return {
            call["id"]: call for event in self.events for call in event.body.get("toolCalls", ()) if "arguments" in call
        }

    def _drop_text_after(self, id_: str) -> None:
        place = next((n for n, event in enumerate(self.events) if event.id == id_), -1)
        kept = [event for event in self.events[place + 1 :] if event.type not in _TEXTS]
        self.events[place + 1 :] = kept
