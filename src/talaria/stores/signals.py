"""Wakes those who wait for entries or letters. All of it runs on the event loop."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from talaria.core.errors import StoreClosed


class Listeners:
    """Who waits for entries, by session. `wake` costs one lookup when nobody does."""

    def __init__(self) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}

    @contextmanager
    def listen(self, session: str) -> Generator[asyncio.Event]:
        """An event that is set at every append to the session, for as long as the block lasts."""
        event = asyncio.Event()
        events = self._events.setdefault(session, set())
        events.add(event)
        try:
            yield event
        finally:
            events.discard(event)
            if not events and self._events.get(session) is events:
                del self._events[session]

    def wake(self, session: str) -> None:
        """Something was appended to the session."""
        events = self._events.get(session)
        if events is not None:
            for event in events:
                event.set()

    def wake_all(self) -> None:
        """The store closes: let everybody look."""
        for session in self._events:
            self.wake(session)


class Arrivals:
    """Sessions that got letters, told once each until they are taken."""

    def __init__(self) -> None:
        self._sessions: dict[str, None] = {}
        self._is_closed = False
        self.event = asyncio.Event()

    def add(self, session: str) -> None:
        """A letter arrived."""
        self._sessions[session] = None
        self.event.set()

    def take(self) -> str | None:
        """The session whose letter came first, or None; then the event is clear until the next letter.

        Raises:
            StoreClosed: there will be no more.
        """
        if self._is_closed:
            raise StoreClosed("the store is closed; open it again")
        for session in self._sessions:
            del self._sessions[session]
            return session
        self.event.clear()
        return None

    def close(self) -> None:
        """Let the watcher see that the store is closed."""
        self._is_closed = True
        self.event.set()
