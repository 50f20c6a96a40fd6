"""What one client has of one run: strict about what it is sent, and true to `rewind`."""

from typing import Any

from talaria.core.events import Position, read_position
from tests.server.sse import Event

TERMINAL = frozenset({"finish", "error"})
TEXTS = frozenset({"token", "reasoning"})


class Transcript:
    """The events that hold, in order; `violations` says what a client need not put up with."""

    def __init__(self) -> None:
        self.run_id = ""
        self.events: list[Event] = []
        self.received: list[str] = []
        self.violations: list[str] = []
        self.last_id: str | None = None
        self.rewinds = 0

    @property
    def end(self) -> dict[str, Any] | None:
        """The terminal event, once it is here."""
        last = self.events[-1].data if self.events else {"type": ""}
        return last if last["type"] in TERMINAL else None

    def text(self, kind: str) -> str:
        """All `token` or `reasoning` text, joined."""
        return "".join(event.data["data"] for event in self.events if event.type == kind)

    def of(self, kind: str) -> list[Event]:
        """The events of a type."""
        return [event for event in self.events if event.type == kind]

    def acknowledge(self, run_id: str) -> None:
        """The server has said which run it is; it stays that."""
        if self.run_id not in ("", run_id):
            self.violations.append(f"run {self.run_id} has become {run_id}")
        self.run_id = run_id

    def take(self, event: Event) -> None:
        """Take in the next event."""
        if event.type == "heartbeat":
            return
        self.received.append(f"{event.id} {event.data}")
        if self.end is not None:
            self.violations.append(f"{event} after the end")
        if event.id is None:
            self._check(event.type == "notice", f"{event} has no id")
            return
        self._check_id(event.id)
        if event.type == "rewind":
            self._rewind(event)
        self.events.append(event)
        self.last_id = event.id

    def _check(self, holds: bool, words: str) -> None:
        if not holds:
            self.violations.append(words)

    def _check_id(self, id_: str) -> None:
        self._check(id_.startswith(f"{self.run_id}/"), f"{id_} is of another run than {self.run_id}")
        self._check(id_ not in {event.id for event in self.events}, f"{id_} came twice")
        if self.last_id is not None:
            self._check(place(self.last_id) < place(id_), f"{id_} came after {self.last_id}")

    def _rewind(self, event: Event) -> None:
        """Drop the text after the named event."""
        self.rewinds += 1
        target = event.data["data"]
        ids = [each.id for each in self.events]
        if target not in ids:
            self.violations.append(f"rewind to {target}, which never came")
            return
        at = ids.index(target) + 1
        dropped = [each for each in self.events[at:] if each.type not in (*TEXTS, "rewind", "queued")]
        self._check(not dropped, f"rewind to {target} drops {dropped}")
        del self.events[at:]


def place(id_: str) -> Position:
    """The position in an event id: opaque to clients, but they must grow."""
    return read_position(id_.rpartition("/")[2])
