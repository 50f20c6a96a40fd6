"""The open streams of a server: what they have in common, and how they all end when the server does."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from talaria.runtime.settings import ServerSettings
from talaria.server.pulse import Rhythm


class Endable(Protocol):
    """Something that can be asked to end."""

    def end(self) -> None:
        """Stop writing as soon as possible."""
        ...


class Streams:
    """Every stream that is being written now."""

    def __init__(self, settings: ServerSettings) -> None:
        self.rhythm = Rhythm(settings.heartbeat, settings.heartbeat_padding)
        self._open: set[Endable] = set()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def holding(self, stream: Endable) -> Generator[None]:
        """Count a stream as open meanwhile."""
        self._open.add(stream)
        try:
            yield
        finally:
            self._open.discard(stream)

    def end_all(self) -> None:
        """End every stream where it stands, without a terminal event: its client comes back to where it was."""
        for stream in tuple(self._open):
            stream.end()
