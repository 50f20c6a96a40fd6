"""A client that does not read: what its stream keeps for it."""

import asyncio
from collections.abc import AsyncGenerator

from starlette.types import Message

from talaria.core.events import ChatEvent
from talaria.live.frames import Frame
from talaria.runtime.settings import ServerSettings
from talaria.server.event_stream import PIECE, EventStream
from talaria.server.streams import Streams


async def test_what_a_client_has_not_read_is_made_into_bytes_piece_by_piece() -> None:
    backlog = [Frame((1, 1, 1, said), ChatEvent("token", "word")) for said in range(10_000)]
    plain = backlog[0].size
    stuck = asyncio.Event()
    written: list[int] = []

    async def frames() -> AsyncGenerator[list[Frame]]:
        yield backlog

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        written.append(len(message.get("body", b"")))
        if written[-1] >= PIECE:
            stuck.set()
            await asyncio.Event().wait()

    stream = EventStream(frames(), "run_1", Streams(ServerSettings()), {})
    task = asyncio.create_task(stream({"type": "http"}, receive, send))
    async with asyncio.timeout(5):
        await stuck.wait()
    made = sum(frame.size - plain for frame in backlog)
    stream.end()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert PIECE <= made < PIECE + 1_000
