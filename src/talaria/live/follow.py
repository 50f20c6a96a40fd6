"""Following a run: from any position a client has seen, to the end, out of the journal and the live buffer."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from talaria.core.events import Position, rewind_event
from talaria.core.ids import SessionKey
from talaria.journal.entries import AnyEntry, ModelFinished, RunFinished
from talaria.journal.session import load_entry
from talaria.journal.views import entry_events, last_position, text_events
from talaria.live.frames import Frame
from talaria.live.hub import Hub
from talaria.ports.blobs import Blobs
from talaria.ports.journal import Journal

PAGE = 100


class RunSource:
    """Where the events of one run come from. `first` is the seq of its first entry."""

    def __init__(self, journal: Journal, blobs: Blobs, key: SessionKey, run_id: str, first: int) -> None:
        self._journal = journal
        self._blobs = blobs
        self._key = key
        self._run_id = run_id
        self._first = first
        self.seq = first - 1
        self.ended = False

    async def replay(self, after: Position) -> AsyncIterator[list[Frame]]:
        """Yield what the journal has after `after`; then `seq` is the last entry read, `ended` if it was the end."""
        self.seq = max(after[0] - 1, self._first - 1)
        stale = after[1] > 0 and not await self._is_recorded(after)
        if stale:
            yield [Frame((after[0], after[1], after[2] + 1, 0), rewind_event(self._run_id, await self._anchor(after)))]
        while records := await self._journal.read(self._key.path, self.seq, PAGE):
            frames: list[Frame] = []
            for record in records:
                entry = await load_entry(self._blobs, self._key.path, record)
                if entry.run == self._run_id:
                    frames.extend(self._frames(record.seq, entry, after))
                    self.ended = self.ended or isinstance(entry, RunFinished)
                self.seq = record.seq
                if self.ended:
                    break
            if frames:
                yield frames
            if self.ended or len(records) < PAGE:
                return

    def _frames(self, seq: int, entry: AnyEntry, after: Position) -> list[Frame]:
        placed = entry_events(seq, self._key.session, entry)
        if isinstance(entry, ModelFinished) and seq > after[0]:
            said = after[3] if (entry.epoch, entry.attempt) == after[1:3] else 0
            placed = text_events(seq, entry, said) + placed
        return [Frame(position, event, seq) for position, event in placed if position > after]

    async def _is_recorded(self, after: Position) -> bool:
        """Whether the message that a text position speaks of is in the journal."""
        seq = after[0]
        while records := await self._journal.read(self._key.path, seq, PAGE):
            for record in records:
                entry = await load_entry(self._blobs, self._key.path, record)
                if isinstance(entry, ModelFinished) and (entry.epoch, entry.attempt) == after[1:3]:
                    return True
            seq = records[-1].seq
        return False

    async def _anchor(self, before: Position) -> Position:
        """The last event of an entry that a client at `before` has received."""
        anchor: Position = (self._first, 0, 0, 0)
        seq = self._first - 1
        while records := await self._journal.read(self._key.path, seq, PAGE):
            for record in records:
                if record.seq > before[0] + 1:  # a message has the seq after that of its text
                    return anchor
                entry = await load_entry(self._blobs, self._key.path, record)
                position = last_position(record.seq, entry) if entry.run == self._run_id else None
                if position is not None and position < before:
                    anchor = position
            seq = records[-1].seq
        return anchor


Locate = Callable[[], Awaitable[RunSource | None]]


async def follow(hub: Hub, run_id: str, locate: Locate, after: Position) -> AsyncGenerator[list[Frame]]:
    """Yield all frames of a run after `after`, in batches, until its end; wait while there is nothing.

    `locate` finds the run's journal, or None as long as the run waits in line and has none.
    """
    position = after
    with hub.following(run_id) as open_buffer:
        live = hub.get(run_id)
        cursor = live.find(position) if live else None
        while True:
            if live is None or cursor is None:
                reader, seq = await locate(), 0
                if reader is not None:
                    async for frames in reader.replay(position):
                        position = _last(frames, position)
                        yield frames
                    if reader.ended:
                        return
                    seq = reader.seq
                live = open_buffer(seq)
                rest = live.unread(seq)
                cursor = live.end if rest is not None else None
            else:
                rest = live.read(cursor)
                cursor = cursor + len(rest) if rest is not None else None
            if rest:
                if new := _after(position, rest):
                    position = _last(new, position)
                    yield new
            elif live.ended and cursor is not None:
                return
            elif cursor is not None:
                await live.wait(cursor)


def _last(frames: list[Frame], position: Position) -> Position:
    return next((frame.position for frame in reversed(frames) if frame.position is not None), position)


def _after(position: Position, frames: list[Frame]) -> list[Frame]:
    """The frames less those up to `position`: what is durable is in the journal before its owner has published it."""
    first = next((frame.position for frame in frames if frame.position is not None), None)
    if first is None or first > position:
        return frames
    return [frame for frame in frames if frame.position is None or frame.position > position]
