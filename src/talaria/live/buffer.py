"""The live buffer of one run: a bounded tail of its events, and the whole of its unfinished message."""

import asyncio
from collections.abc import Sequence

from talaria.core.events import START, ChatEvent, Position, rewind_event
from talaria.journal.entries import AnyEntry, ModelFinished, RunFinished, TurnStarted
from talaria.journal.views import entry_events, last_position, text_events
from talaria.live.frames import OVERHEAD, Frame
from talaria.ports.model import ReasoningDelta, TextDelta

KEPT_BYTES = 32 * 1024
"""How much of what the journal has already stays in memory, for cursors that are a little behind."""


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
        self._said = 0
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
            if isinstance(entry, (ModelFinished, TurnStarted)):
                self._settle(seq, entry)
            self._seq = seq
            events = entry_events(seq, session_id, entry)
            for position, event in events:
                self._add(Frame(position, event, seq))
            self._anchor = events[-1][0] if events else last_position(seq, entry) or self._anchor
            self.ended = self.ended or isinstance(entry, RunFinished)
        self._wake()

    def begin(self, epoch: int, attempt: int) -> None:
        """A model call begins; what an earlier one said and did not finish is void, and clients drop it."""
        void = self._said > 0
        self._attempt, self._said = (epoch, attempt), 0
        if self._open is None:
            self._open = self.end
        if void:
            self._add(Frame((self._seq, epoch, attempt, 0), rewind_event(self.run_id, self._anchor)))
            self._wake()

    def say(self, deltas: Sequence[TextDelta | ReasoningDelta]) -> None:
        """The model said something: one event a delta, one wake-up for all of them."""
        epoch, attempt = self._attempt
        said, seq, frames = self._said, self._seq, self._frames
        for delta in deltas:
            said += len(delta.text)
            kind = "token" if type(delta) is TextDelta else "reasoning"
            frames.append(Frame((seq, epoch, attempt, said), ChatEvent(kind, delta.text)))
        self._bytes += said - self._said + len(deltas) * OVERHEAD
        self._said = said
        self._wake()

    def tell(self, event: ChatEvent, position: Position | None = None) -> None:
        """Say something that is in no entry: a notice, a place in line."""
        self._add(Frame(position, event, 0 if position else self._seq))
        self._wake()

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
            frame for at, frame in enumerate(self._frames) if (frame.durable > seq if frame.durable else at >= known)
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
        stop = len(self._frames) if self._open is None else self._open - self._first
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
