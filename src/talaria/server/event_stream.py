"""One client's event stream, written as bare ASGI: a write for each batch of frames, back-pressure, disconnects."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing

import structlog
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from talaria.core.errors import TalariaError
from talaria.core.events import ChatEvent
from talaria.core.ids import new_id
from talaria.live.frames import Frame, encode_sse
from talaria.server.pulse import ClientGone, Pulse
from talaria.server.streams import Streams

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
FIRST = b": stream\n\n"
ASKING = frozenset({"approval_request", "question", "subagent_approval_request", "subagent_question"})
PIECE = 64 * 1024
"""How many bytes leave in one write at most, give or take one event."""

_log = structlog.get_logger("talaria.server")

Frames = AsyncGenerator[list[Frame], None]


async def stay() -> None:
    """What a run does by default when its client goes: nothing."""


class EventStream:
    """Writes a run's frames until the run ends, the client goes (then `gone` is called), or the server ends it."""

    def __init__(
        self,
        frames: Frames,
        run_id: str,
        streams: Streams,
        headers: Mapping[str, str],
        gone: Callable[[], Awaitable[object]] = stay,
    ) -> None:
        self.headers = MutableHeaders(headers=HEADERS | dict(headers))
        self._frames = frames
        self._run = run_id.encode()
        self._streams = streams
        self._gone = gone
        self._limit = asyncio.timeout(None)
        self._is_gone = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        await send({"type": "http.response.start", "status": 200, "headers": self.headers.raw})
        pulse = Pulse(self._streams.rhythm, send)
        watcher = asyncio.create_task(self._watch(receive), name="disconnect")
        try:
            with self._streams.holding(self):
                await self._until_ended(pulse)
        finally:
            watcher.cancel()
            pulse.stop()
        if self._is_gone:
            await self._gone()
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def head(self) -> Response:
        """The answer to who asks for the head alone: no stream is opened."""
        answer = Response(headers=self.headers)
        del answer.headers["Content-Length"]
        return answer

    def end(self) -> None:
        """Stop writing as soon as possible."""
        if not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def _until_ended(self, pulse: Pulse) -> None:
        try:
            async with self._limit, aclosing(self._frames) as batches:
                await pulse.write(self._streams.rhythm.beat() if self._streams.rhythm.is_padded else FIRST)
                async for frames in batches:
                    for piece in self._pieces(frames):
                        await pulse.write(piece)
        except ClientGone:
            self._is_gone = True
        except Exception as error:  # noqa: BLE001
            if not self._limit.expired():
                await pulse.write(self._fault(error))

    def _pieces(self, frames: Sequence[Frame]) -> Iterator[bytes]:
        """The frames as bytes, in writes of a bounded size; a heartbeat follows whatever asks a person.

        Each is made when it can be written: of all that a slow client has not read yet, it costs one.
        """
        run = self._run
        lines: list[bytes] = []
        size = 0
        for frame in frames:
            line = frame.sse(run)
            lines.append(line)
            size += len(line)
            if _asks(frame.event):
                lines.append(self._streams.rhythm.beat())
            if size >= PIECE:
                yield b"".join(lines)
                lines, size = [], 0
        if lines:
            yield b"".join(lines)

    def _fault(self, error: Exception) -> bytes:
        """What a client is told when its stream cannot go on; the run itself is not concerned."""
        fault = new_id("err")
        cause = error.operator or error.message if isinstance(error, TalariaError) else None
        _log.error("stream_failed", fault=fault, run=self._run.decode(), cause=cause, exc_info=error)
        sentence = f"the stream cannot go on; take it up again, or look for {fault} in the server's log"
        return encode_sse(self._run, None, ChatEvent("error", sentence, reason="internal"))

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        self.end()


def _asks(event: ChatEvent) -> bool:
    """Whether it is the client's turn now; a call that it runs has a request's id."""
    return event.type in ASKING or (event.data is not None and event.type in ("tool_call", "subagent_tool_call"))
