"""Heartbeats and padding."""

import asyncio

import pytest
from starlette.types import Message

from talaria.server.pulse import QUIET, Pulse, Rhythm
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.polling import eventually
from tests.server.serving import serving
from tests.server.sse import Parser, parse, text_of


async def test_silence_is_filled_with_heartbeats_that_have_no_id() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("late", gate=gate))
    async with serving(model, server={"heartbeat": 0.02}) as served, served.client.chat() as stream:
        await stream.event()
        beats = [await stream.any_event() for _ in range(3)]
        gate.set()
        assert text_of(await stream.rest()) == "late"
    assert {(event.id, event.type) for event in beats if event} == {(None, "heartbeat")}


async def test_a_run_that_waits_in_line_has_a_pulse_too() -> None:
    gate = asyncio.Event()
    async with (
        serving(ScriptedModel(Say("one", gate=gate), Say("two")), server={"heartbeat": 0.02}) as served,
        served.client.chat("A", sessionId="s") as first,
    ):
        await first.until("run_started")
        async with served.client.chat("B", sessionId="s") as second:
            await second.until("queued")
            beat = await second.any_event()
            gate.set()
            await second.rest()
    assert beat is not None
    assert beat.type == "heartbeat"


async def test_there_are_no_heartbeats_while_something_is_said() -> None:
    async with serving(ScriptedModel(Say("x" * 500, chunk=1)), server={"heartbeat": 5}) as served:
        body = (await served.client.post("/ai-api/chat/stream", {"query": "x"})).body
    assert b"heartbeat" not in body


@pytest.mark.parametrize("size", [1, 3, 100, 1024, 2048, 5000])
def test_padding_has_the_size_that_was_asked_for_and_says_nothing(size: int) -> None:
    rhythm = Rhythm(60, size)
    bare, padded = Rhythm(60, 0).beat(), rhythm.beat()
    assert size <= len(padded) - len(bare) <= size + 2
    parser = Parser()
    assert [event.data for event in parser.feed(padded)] == [{"type": "heartbeat"}]
    assert parse(padded + rhythm.beat()) == parse(bare) * 2


async def test_with_padding_a_padded_heartbeat_comes_first_and_follows_what_was_said_at_once() -> None:
    gate = asyncio.Event()
    server = {"heartbeat": 60, "heartbeatPadding": 2000}
    async with serving(ScriptedModel(Say("late", gate=gate)), server=server) as served, served.client.chat() as stream:
        first = await stream.bytes()
        started = await stream.bytes()
        beat = await stream.bytes()
        gate.set()
        await stream.rest()
    assert first is not None
    assert len(first) > 2000
    assert started is not None
    assert b"run_started" in started
    assert beat is not None
    assert (len(beat), beat == first) == (len(first), False)


async def test_with_padding_a_stream_that_never_pauses_is_pushed_on_too() -> None:
    sent: list[bytes] = []

    async def send(message: Message) -> None:
        sent.append(message["body"])

    pulse = Pulse(Rhythm(60, 500), send)
    async with asyncio.timeout(5):
        while len([each for each in sent if b"heartbeat" in each]) < 2:
            await pulse.write(b"data: {}\n\n")
            await asyncio.sleep(QUIET / 10)
    pulse.stop()
    said = sent.index(next(each for each in sent if b"heartbeat" in each))
    assert said > QUIET / (QUIET / 10)


async def test_a_slow_reader_gets_no_heartbeats_on_top() -> None:
    taken = asyncio.Event()
    sent: list[bytes] = []

    async def send(message: Message) -> None:
        sent.append(message["body"])
        await taken.wait()

    pulse = Pulse(Rhythm(0.01, 0), send)
    writing = asyncio.create_task(pulse.write(b"data: {}\n\n"))
    await asyncio.sleep(0.05)
    assert sent == [b"data: {}\n\n"]
    taken.set()
    await writing
    await eventually(lambda: _true(len(sent) > 1), "a heartbeat")
    pulse.stop()


async def _true(value: bool) -> bool:
    return value
