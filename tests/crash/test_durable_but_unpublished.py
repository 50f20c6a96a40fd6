"""Between the moment at which an entry is durable and the one at which its owner says so, readers find it twice."""

import asyncio

from talaria.core.events import START
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Text, UserMessage
from talaria.journal.codec import encode_entry
from talaria.journal.entries import AnyEntry, ModelFinished, RunFinished, TurnStarted
from talaria.live.follow import RunSource, follow
from talaria.live.hub import Hub
from talaria.ports.journal import Batch
from talaria.ports.model import TextDelta
from talaria.stores.memory.store import MemoryStore

KEY = SessionKey("t", "u", "-", "s")
STARTED = TurnStarted(run="r", at=1, agent="a", model="m", message=UserMessage((Text("Hello"),)))
SAID = ModelFinished(run="r", at=2, round=1, epoch=7, attempt=1, message=AssistantMessage((Text("Good morning"),), "m"))
ENDED = RunFinished(run="r", at=3, reason="stop")


def append(store: MemoryStore, seq: int, *entries: AnyEntry) -> None:
    store.journal.append(Batch(KEY.path, 7, seq, tuple(encode_entry(entry)[0] for entry in entries))).result()


async def test_what_is_durable_and_not_yet_published_reaches_a_reader_once() -> None:
    store, hub = MemoryStore(), Hub()
    live = hub.own("r", 0)
    live.publish("s", [(1, STARTED)])
    live.begin(7, 1)
    live.say([TextDelta("Good "), TextDelta("morning")])
    append(store, 0, STARTED, SAID)  # SAID is durable; its owner has not heard of that

    async def locate() -> RunSource:
        return RunSource(store.journal, store.blobs, KEY, "r", 1)

    def go_on() -> None:
        append(store, 2, ENDED)
        live.publish("s", [(2, SAID), (3, ENDED)])

    heard: list[tuple[str, str | int | None]] = []
    async for frames in follow(hub, "r", locate, START):
        if not heard:  # the journal is read; the owner hears of it once the reader waits
            asyncio.get_running_loop().call_soon(go_on)
        heard += [(frame.event.type, frame.event.data) for frame in frames]
    assert heard == [("run_started", "r"), ("token", "Good morning"), ("finish", None)]


async def test_an_entry_that_is_durable_and_not_yet_published_reaches_a_reader_once() -> None:
    store, hub = MemoryStore(), Hub()
    live = hub.own("r", 0)
    append(store, 0, STARTED)

    async def locate() -> RunSource:
        return RunSource(store.journal, store.blobs, KEY, "r", 1)

    def go_on() -> None:
        append(store, 1, SAID, ENDED)
        live.publish("s", [(1, STARTED), (2, SAID), (3, ENDED)])

    heard: list[str] = []
    async for frames in follow(hub, "r", locate, START):
        if not heard:
            asyncio.get_running_loop().call_soon(go_on)
        heard += [frame.event.type for frame in frames]
    assert heard == ["run_started", "token", "finish"]
