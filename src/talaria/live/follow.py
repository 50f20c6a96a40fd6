"""Following a run: from any position a client has seen, to the end, out of the journal and the live buffer."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from talaria.core.events import START, Position, is_after, rewind_event, seen_seq, task_event
from talaria.core.ids import SessionKey
from talaria.journal.entries import AnyEntry, ModelFinished, RunFinished
from talaria.journal.session import load_entry
from talaria.journal.views import Placed, entry_events, last_position, text_events
from talaria.live.frames import Frame
from talaria.live.hub import Hub
from talaria.ports.blobs import Blobs
from talaria.ports.journal import Journal

PAGE = 100


class RunSource:
    """Where the events of one run come from. `first` is the seq of its first entry."""

    def __init__(self, journal: Journal, blobs: Blobs, key: SessionKey, run_id: str, first: int) -> None:
        self.opened: Callable[[], Position | None] = lambda: None  # where the text of an unfinished message begins
        self._journal = journal
        self._blobs = blobs
        self._key = key
        self._run_id = run_id
        self._first = first
        self.seq = first - 1
        self.said = (0, 0)  # the message that was read last: it may be durable before the live buffer knows
        self.ended = False

    async def replay(self, after: Position) -> AsyncIterator[list[Frame]]:
        """Yield what the journal has after `after`; then `seq` is the last entry read, `ended` if it was the end."""
        self.seq = max(after[0] - 1, self._first - 1)
        stale = after[1] > 0 and not await self._is_recorded(after)
        if stale:
            anchor = rewind_event(self._run_id, await self._anchor(after))
            yield [Frame((after[0], after[1], after[2] + 1, 0, *after[4:]), anchor)]
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
        if entry.task:
            return self._task_frames(seq, entry, placed, after)
        if isinstance(entry, ModelFinished) and seq > after[0]:
            said = after[3] if (entry.epoch, entry.attempt) == after[1:3] else 0
            placed = text_events(seq, entry, said) + placed
        if isinstance(entry, ModelFinished):
            self.said = (entry.epoch, entry.attempt)
        return [Frame(position, event, seq) for position, event in placed if is_after(position, after)]

    def _task_frames(self, seq: int, entry: AnyEntry, placed: list[Placed], after: Position) -> list[Frame]:
        """A subagent's: its text has no position; its events stand within the message that is unfinished, if any."""
        if not is_after((seq, 0, 0, 0), after):
            return []
        texts = text_events(seq, entry) if isinstance(entry, ModelFinished) else []
        frames = [Frame(None, task_event(entry.task, event), seq) for _, event in texts]
        opened = self.opened()
        if opened is not None and seq > opened[0] and opened[1:3] != self.said:
            within = (*opened[:3], after[3] if after[:3] == opened[:3] else 0, seq)
            return frames + [Frame(within, event, seq) for _, event in placed]
        return frames + [Frame(position, event, seq) for position, event in placed]

    async def task_anchor(self, task: str, until: Position) -> Position:
        """The last event of a subagent's task that a client at `until` has, or the run's first."""
        anchor: Position = (self._first, 0, 0, 0)
        seq = self._first - 1
        while records := await self._journal.read(self._key.path, seq, PAGE):
            for record in records:
                if record.seq > seen_seq(until):
                    return anchor
                entry = await load_entry(self._blobs, self._key.path, record)
                if entry.run == self._run_id and entry.task == task:
                    anchor = last_position(record.seq, entry) or anchor
            seq = records[-1].seq
        return anchor

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


class Rewinds:
    """A client that comes back may have had some of a subagent's text, which has no ids: it drops it, to hear it again.

    So it does as soon as there is text of a task that it has not been told to drop since it came.
    """

    def __init__(self, run_id: str, locate: "Locate") -> None:
        self._run_id = run_id
        self._locate = locate
        self._told: set[str] | None = None
        self._anchors: dict[str, Position] = {}

    def come_back(self, position: Position) -> None:
        """From here on, nobody knows what the client had, unless it is at the start."""
        if position != START:
            self._told = set()

    async def before(self, frames: list[Frame], position: Position) -> list[Frame]:
        """The frames, with rewinds where they are due; `position` is where the client is before them."""
        if not any(frame.event.task_id for frame in frames):
            return frames
        out: list[Frame] = []
        for frame in frames:
            task = frame.event.task_id
            if task and frame.position is not None:
                self._anchors[task] = frame.position
            elif task and self._told is not None and task not in self._told:
                self._told.add(task)
                anchor = self._anchors.get(task) or await self._anchor(task, position)
                out.append(Frame(None, rewind_event(self._run_id, anchor, task)))
            out.append(frame)
        return out

    async def _anchor(self, task: str, position: Position) -> Position:
        source = await self._locate()
        return START if source is None else await source.task_anchor(task, position)


Locate = Callable[[], Awaitable[RunSource | None]]


async def follow(hub: Hub, run_id: str, locate: Locate, after: Position) -> AsyncGenerator[list[Frame]]:
    """Yield all frames of a run after `after`, in batches, until its end; wait while there is nothing.

    `locate` finds the run's journal, or None as long as the run waits in line and has none.
    """
    position, rewinds = after, Rewinds(run_id, locate)
    rewinds.come_back(after)
    with hub.following(run_id) as open_buffer:
        live = hub.get(run_id)
        cursor = live.find(position) if live else None
        while True:
            if live is None or cursor is None:
                reader, seq = await locate(), 0
                rewinds.come_back(position)
                if reader is not None:
                    reader.opened = lambda: buffer.opened if (buffer := hub.get(run_id)) else None
                    async for frames in reader.replay(position):
                        due = await rewinds.before(frames, position)
                        position = _last(frames, position)
                        yield due
                    if reader.ended:
                        return
                    seq = reader.seq
                live = open_buffer(seq)
                rest = live.unread(seq)
                position = live.placed(position, reader.said if reader is not None else None)
                cursor = live.end if rest is not None else None
            else:
                rest = live.read(cursor)
                cursor = cursor + len(rest) if rest is not None else None
            if rest:
                if new := _after(position, rest):
                    due = await rewinds.before(new, position)
                    position = _last(new, position)
                    yield due
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
    return [frame for frame in frames if frame.position is None or is_after(frame.position, position)]
