"""A run that a test drives step by step, and a client that follows it, loses its connection and comes back."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from talaria.core.events import START, ChatEvent, Position, write_position
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, AssistantPart, Reasoning, Text, ToolCall, UserMessage
from talaria.core.usage import Usage
from talaria.journal.entries import (
    AnswerAccepted,
    AnswerRejected,
    AnyEntry,
    ModelFinished,
    RunFinished,
    RunResumed,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from talaria.journal.session import SessionWriter, load_state
from talaria.journal.state import SessionState
from talaria.live.buffer import LiveBuffer
from talaria.live.follow import RunSource, follow
from talaria.live.frames import Frame
from talaria.live.hub import Hub
from talaria.ports.model import ReasoningDelta, TextDelta
from talaria.stores.memory.store import MemoryStore

KEY = SessionKey("t", "u", "-", "s")
RUN = "run_1"


class Running:
    """One run in a session of its own: what its owner does."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.hub = Hub()
        self.state = SessionState(KEY)
        self.epoch = 0
        self.first = 0
        self.round = 0
        self.parts: list[AssistantPart] | None = None
        self.over = False
        self.last: AssistantMessage | None = None
        self.live: LiveBuffer
        self.writer: SessionWriter

    async def start(self, before: int = 0) -> None:
        """Begin, after a run of so many entries."""
        self._own()
        for _ in range(before):
            self.writer.record(TurnStarted(run="run_0", at=0, agent="a", model="m", message=_hi()))
        self.writer.record(*([RunFinished(run="run_0", at=0, reason="stop")] if before else []))
        await self.writer.flush()
        self.live = self.hub.own(RUN, self.state.seq)
        self.first = self.state.seq + 1
        self.writer.record(TurnStarted(run=RUN, at=0, agent="a", model="m", message=_hi()))
        await self.writer.flush()

    def _own(self) -> None:
        self.epoch += 1
        self.writer = SessionWriter(self.store.journal, self.state, self.epoch, self._publish)

    def _publish(self, placed: Sequence[tuple[int, AnyEntry]]) -> None:
        if hasattr(self, "live"):
            self.live.publish("s", placed)

    async def crash(self) -> None:
        """The process dies; another one takes the run up."""
        self.hub.disown(RUN)
        self.hub = Hub()
        self.parts = None
        self.state = await load_state(self.store.journal, self.store.blobs, KEY)
        self._own()
        assert self.state.run is not None
        self.live = self.hub.own(RUN, self.state.seq, self.state.run.anchor)
        self.writer.record(RunResumed(run=RUN, at=0, why="recovered"))
        await self.writer.flush()

    def begin(self) -> None:
        """A model call, or another attempt at it."""
        self.writer.attempts += 1
        self.live.begin(self.epoch, self.writer.attempts)
        self.parts = []

    def say(self, text: str, *, reasoning: bool = False, streamed: bool = True) -> None:
        if self.parts is None:
            self.begin()
        assert self.parts is not None
        kind = Reasoning if reasoning else Text
        if self.parts and isinstance(self.parts[-1], kind):
            self.parts[-1] = kind(self.parts[-1].text + text)
        else:
            self.parts.append(kind(text))
        if streamed:
            self.live.say([ReasoningDelta(text) if reasoning else TextDelta(text)])

    async def answer(self, *, call: bool) -> None:
        """The message is complete."""
        if self.parts is None:  # it said nothing before: nobody was told that it begins
            self.writer.attempts += 1
            self.parts = []
        self.round += 1
        id_ = f"call_{self.round}"
        parts = (*self.parts, *((ToolCall(id_, "look"),) if call else ()))
        self.parts = None
        self.last = None if call else AssistantMessage(parts)
        self.writer.record(self._finished(AssistantMessage(parts)))
        if call:
            self.writer.record(ToolStarted(run=RUN, at=0, call_id=id_, name="look"))
        await self.writer.flush()
        if call:
            self.writer.record(ToolFinished(run=RUN, at=0, call_id=id_, name="look", text="seen" * self.round))
            await self.writer.flush()

    async def judge(self, verdict: str) -> None:
        """The answer that was just given is rejected, or mended, or stands."""
        run = self.state.run
        assert run is not None
        if self.parts is not None or self.last is None or run.last is None or not run.last.message.text:
            return
        back = run.before_text
        if verdict == "rejected":
            self.writer.record(AnswerRejected(run=RUN, at=0, round=1, problem="p", feedback="f", rewind=back))
        else:
            self.writer.record(AnswerAccepted(run=RUN, at=0, round=1, text="{}", rewind=back))
        self.last = None
        await self.writer.flush()

    def _finished(self, message: AssistantMessage) -> ModelFinished:
        attempt = self.writer.attempts
        return ModelFinished(run=RUN, at=0, round=self.round, epoch=self.epoch, attempt=attempt, message=message)

    async def end(self) -> None:
        if not self.over:
            if self.parts is not None:
                said, self.parts = tuple(self.parts), None
                self.round += 1
                self.writer.record(self._finished(AssistantMessage(said, incomplete=True)))
            self.over = True
            self.writer.record(RunFinished(run=RUN, at=0, reason="stop", usage=Usage(1, 1)))
            await self.writer.flush()
            self.hub.disown(RUN)

    async def locate(self) -> RunSource | None:
        return RunSource(self.store.journal, self.store.blobs, KEY, RUN, self.first) if self.first else None

    async def replay(self) -> list[Frame]:
        """What a client gets that comes when all is over."""
        return [frame async for frames in follow(Hub(), RUN, self.locate, START) for frame in frames]


def _hi() -> UserMessage:
    return UserMessage((Text("hi"),))


class Follower:
    """A client. `read` is let go by `gate`; what it has `received` may be cut, as if lost on the way."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.received: list[Frame] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._task: asyncio.Task[None] | None = None

    @property
    def position(self) -> Position:
        return next((frame.position for frame in reversed(self.received) if frame.position is not None), START)

    def connect(self) -> None:
        self._task = asyncio.create_task(self._read(self.position))

    async def lose(self, keep: int) -> None:
        """The connection breaks; only the first `keep` events had arrived."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
        del self.received[keep:]

    async def _read(self, after: Position) -> None:
        async with aclosing(follow(self.running.hub, RUN, self.running.locate, after)) as batches:
            async for frames in batches:
                self.received.extend(frames)
                await self.gate.wait()

    async def ended(self) -> None:
        assert self._task is not None
        self.gate.set()
        async with asyncio.timeout(5):
            await self._task

    def texts(self) -> tuple[str, str]:
        """The answer and the reasoning that the client shows."""
        return texts_of(self.received)

    def entry_positions(self) -> list[Position]:
        return entry_positions(self.received)


def texts_of(frames: Sequence[Frame]) -> tuple[str, str]:
    """The answer and the reasoning that whoever got these frames shows, rewinds applied."""
    kept: list[ChatEvent | str] = []
    for frame in frames:
        if frame.event.type == "rewind":
            target = str(frame.event.data)
            assert target in kept, f"{target} was never received: {kept}"
            behind = len(kept) - kept[::-1].index(target)
            kept[behind:] = [each for each in kept[behind:] if isinstance(each, str)]
        else:
            kept.append(frame.event)
        if frame.position is not None:
            kept.append(f"{RUN}/{write_position(frame.position)}")
    events = [each for each in kept if isinstance(each, ChatEvent)]
    return _joined(events, "token"), _joined(events, "reasoning")


def entry_positions(frames: Sequence[Frame]) -> list[Position]:
    """Where the events of entries stand, texts and rewinds left out."""
    return [frame.position for frame in frames if frame.position is not None and not frame.position[1]]


def _joined(events: Sequence[ChatEvent], kind: str) -> str:
    return "".join(str(event.data) for event in events if event.type == kind)


async def settle() -> None:
    """Let everybody who can go on do so."""
    for _ in range(8):
        await asyncio.sleep(0)
