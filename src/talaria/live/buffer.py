"""The live buffer of one run: a bounded tail of its events, and the whole of its unfinished message."""

import asyncio
from collections.abc import Sequence

from talaria.core.events import START, ChatEvent, Position, rewind_event, task_event
from talaria.journal.entries import AnyEntry, ModelFinished, RunFinished, TaskFinished, TurnStarted
from talaria.journal.views import entry_events, last_position, text_events
from talaria.live.frames import OVERHEAD, Frame
from talaria.ports.model import ReasoningDelta, TextDelta

KEPT_BYTES = 32 * 1024
"""How much of what the journal has already stays in memory, for cursors that are a little behind."""


UNSETTLED = -1
"""In the place of the seq: text of a subagent that is in no entry yet."""


class TaskText:
    """What a subagent has said and not finished: how much, from which cursor on; `anchor`: where its last event is."""

    def __init__(self, anchor: Position) -> None:
        self.anchor = anchor
        self.said = 0
        self.first: int | None = None


class LiveBuffer:
    """What one run has said lately: written by the run's owner, read by cursors (absolute frame numbers).

    The unfinished message is never dropped; everything else is in the journal by the time it is.
    """

    def __init__(self, run_id: str, since: int) -> None:
        self.run_id = run_id
        self.ended = False
        self.followers = 0
        self._frames: list[Frame] = []
        self._first = 0
        self._bytes = 0
        self._dropped = since  # frames up to this entry may be missing
        self._settled: list[tuple[int, int]] = []  # (cursor, seq): text before the cursor is in the journal with seq
        self._open: int | None = None  # cursor of the first frame of the unfinished message
        self._seq = since
        self._attempt = (0, 0)
        self._base = since  # the seq after which the unfinished message stands
        self._said = 0
        self._tasks: dict[str, TaskText] = {}
        self._places = 0
        self._anchor: Position = START  # of the last event that an entry made
        self._waiters: set[asyncio.Future[None]] = set()

    # What the owner does

    def resume(self, anchor: Position) -> None:
        """An owner comes to a run whose entries made their last event so far at `anchor`."""
        self._anchor = max(self._anchor, anchor)

    def publish(self, session_id: str, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        """Entries have become durable: say what clients see of them."""
        if self._bytes > KEPT_BYTES:
            self._trim()  # of what was said before: followers had the time in between to read it
        for seq, entry in placed:
            if isinstance(entry, (ModelFinished, TurnStarted)) and not entry.task:
                self._settle(seq, entry)
            self._seq = seq
            if entry.task:
                self._publish_task(seq, session_id, entry)
                continue
            events = entry_events(seq, session_id, entry)
            for position, event in events:
                self._add(Frame(position, event, seq))
            self._anchor = events[-1][0] if events else last_position(seq, entry) or self._anchor
            self.ended = self.ended or isinstance(entry, RunFinished)
        self._wake()

    @property
    def seq(self) -> int:
        """The last entry that was published."""
        return self._seq

    def begin(self, epoch: int, attempt: int) -> int:
        """A model call begins; what an earlier one said and did not finish is void, and clients drop it.

        Returns the seq after which what it says stands.
        """
        void = self._said > 0
        self._attempt, self._said, self._base = (epoch, attempt), 0, self._seq
        if self._open is None:
            self._open = self.end
        if void:
            self._add(Frame((self._seq, epoch, attempt, 0), rewind_event(self.run_id, self._anchor)))
            self._wake()
        return self._base

    def say(self, deltas: Sequence[TextDelta | ReasoningDelta]) -> None:
        """The model said something: one event a delta, one wake-up for all of them."""
        epoch, attempt = self._attempt
        said, base, frames = self._said, self._base, self._frames
        beside = () if self._seq == base else (self._seq,)
        for delta in deltas:
            said += len(delta.text)
            kind = "token" if type(delta) is TextDelta else "reasoning"
            frames.append(Frame((base, epoch, attempt, said, *beside), ChatEvent(kind, delta.text)))
        self._bytes += said - self._said + len(deltas) * OVERHEAD
        self._said = said
        self._wake()

    def tell(self, event: ChatEvent, position: Position | None = None) -> None:
        """Say something that is in no entry: a notice, a place in line."""
        self._add(Frame(position, event, 0 if position else self._seq))
        self._wake()

    # What subagents say

    def task(self, task: str, anchor: Position) -> "TaskLive":
        """Where a subagent says what it says; `anchor`: where its last event so far stands."""
        self._tasks.setdefault(task, TaskText(anchor))
        return TaskLive(self, task)

    def begin_task(self, task: str) -> int:
        """A subagent's model call begins; what an earlier one said and did not finish is void."""
        text = self._tasks[task]
        if text.said:
            self._add(Frame(None, rewind_event(self.run_id, text.anchor, task), UNSETTLED))
            text.said = 0
            self._wake()
        return self._seq

    def say_task(self, task: str, deltas: Sequence[TextDelta | ReasoningDelta]) -> None:
        """A subagent's model said something."""
        text = self._tasks[task]
        text.first = self.end if text.first is None else text.first
        for delta in deltas:
            kind = "token" if type(delta) is TextDelta else "reasoning"
            self._add(Frame(None, task_event(task, ChatEvent(kind, delta.text)), UNSETTLED))
            text.said += len(delta.text)
        self._wake()

    def _publish_task(self, seq: int, session_id: str, entry: AnyEntry) -> None:
        text = self._tasks.setdefault(entry.task, TaskText(self._anchor))
        if isinstance(entry, ModelFinished):
            self._settle_task(seq, entry, text)
        for own, event in entry_events(seq, session_id, entry):
            text.anchor = own if self._open is None else (self._base, *self._attempt, self._said, seq)
            self._add(Frame(text.anchor, event, seq))
        if isinstance(entry, TaskFinished):
            del self._tasks[entry.task]

    def _settle_task(self, seq: int, entry: ModelFinished, text: "TaskText") -> None:
        if not text.said:
            for _, event in text_events(seq, entry):
                self._add(Frame(None, task_event(entry.task, event), seq))
        if text.first is not None:
            for frame in self._frames[max(0, text.first - self._first) :]:
                if frame.durable == UNSETTLED and frame.event.task_id == entry.task:
                    frame.durable = seq
        text.said, text.first = 0, None

    def tell_place(self, place: int) -> None:
        """The run waits in line, at this place (1 is next)."""
        self._places += 1
        self.tell(ChatEvent("queued", place), (0, 0, 0, self._places))

    def rest(self) -> None:
        """Its owner has gone. Of a run that is over the journal has everything, and nobody here is in the middle."""
        if self.ended and not self.followers and self._frames and self._frames[-1].position is not None:
            self._drop(len(self._frames))
            self._bytes = 0

    def close(self) -> None:
        """Nothing more is said in this process."""
        self.ended = True
        self._wake()

    def fail(self, message: str) -> None:
        """The run cannot go on in this process, and the journal cannot say so."""
        self._add(Frame(None, ChatEvent("error", message, reason="internal")))
        self.close()

    # What followers do

    @property
    def end(self) -> int:
        """The cursor behind the newest frame."""
        return self._first + len(self._frames)

    @property
    def opened(self) -> Position | None:
        """Where the text of the unfinished message begins, if there is one."""
        return None if self._open is None else (self._base, *self._attempt, 0)

    def placed(self, position: Position, said: Position | None) -> Position:
        """The place of a client that has all that the journal has, and nothing of the unfinished message.

        `said`: the message that the journal had last, which this buffer may not know to be finished.
        """
        opened = self.opened
        if opened is None or position[0] <= opened[0] or position[1] or opened[1:3] == said:
            return position
        return (*opened[:3], 0, position[0])

    @property
    def kept(self) -> int:
        """How many frames are here."""
        return len(self._frames)

    def find(self, position: Position) -> int | None:
        """Return the cursor behind the frame at exactly `position`, or None if it is not here."""
        for at in range(len(self._frames) - 1, -1, -1):
            if self._frames[at].position == position:
                return self._first + at + 1
        return None

    def unread(self, seq: int) -> list[Frame] | None:
        """Return the frames that entries up to `seq` do not contain, or None if some of them are no longer here."""
        if self._dropped > seq:
            return None
        known = max((cursor for cursor, settled in self._settled if settled <= seq), default=0) - self._first
        return [
            frame
            for at, frame in enumerate(self._frames)
            if (frame.durable > seq if frame.durable > 0 else frame.durable == UNSETTLED or at >= known)
        ]

    def read(self, cursor: int) -> list[Frame] | None:
        """Return the frames from `cursor` on, possibly none, or None if some of them are no longer here."""
        return None if cursor < self._first else self._frames[cursor - self._first :]

    async def wait(self, cursor: int) -> None:
        """Return once there is something at `cursor`, or the run has ended."""
        if cursor < self.end or self.ended:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    # Inside

    def _settle(self, seq: int, entry: ModelFinished | TurnStarted) -> None:
        """What was said is in the journal from here on; what of the message was not streamed is said now."""
        if isinstance(entry, ModelFinished):
            attempt = (entry.epoch, entry.attempt)
            if attempt > self._attempt:  # it said nothing so far, but an earlier owner's may have
                self.begin(*attempt)
            said = self._said if attempt == self._attempt else 0
            for position, event in text_events(seq, entry, said):
                self._add(Frame(position, event))
            self._said = 0
        self._settled.append((self.end, seq))
        self._open = None

    def _add(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._bytes += frame.size

    def _trim(self) -> None:
        """Keep half the limit of what the journal has, and the whole of the unfinished message."""
        unfinished = [self._open, *(text.first for text in self._tasks.values())]
        stop = min([self.end, *(first for first in unfinished if first is not None)]) - self._first
        keep, size = stop, 0
        while keep > 0 and size + self._frames[keep - 1].size <= KEPT_BYTES // 2:
            keep -= 1
            size += self._frames[keep].size
        if keep:
            self._drop(keep)
        self._bytes = size + (len(self._frames) - (stop - keep)) * OVERHEAD + self._said

    def _drop(self, count: int) -> None:
        last = self._first + count
        self._dropped = max(
            self._dropped,
            max((frame.durable for frame in self._frames[:count]), default=0),
            min((seq for cursor, seq in self._settled if cursor >= last), default=0),
        )
        del self._frames[:count]
        self._first = last
        self._settled = [(cursor, seq) for cursor, seq in self._settled if cursor > last]

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


class TaskLive:
    """The live buffer as a subagent's task writes to it."""

    def __init__(self, buffer: LiveBuffer, task: str) -> None:
        self._buffer = buffer
        self._task = task

    @property
    def seq(self) -> int:
        """See LiveBuffer."""
        return self._buffer.seq

    def task(self, task: str, anchor: Position) -> "TaskLive":
        """See LiveBuffer."""
        return self._buffer.task(task, anchor)

    def begin(self, epoch: int, attempt: int) -> int:
        """See LiveBuffer."""
        del epoch, attempt
        return self._buffer.begin_task(self._task)

    def say(self, deltas: Sequence[TextDelta | ReasoningDelta]) -> None:
        """See LiveBuffer."""
        self._buffer.say_task(self._task, deltas)

    def tell(self, event: ChatEvent) -> None:
        """See LiveBuffer."""
        self._buffer.tell(task_event(self._task, event))
