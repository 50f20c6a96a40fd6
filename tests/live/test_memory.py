"""A live buffer is small, however long its run."""

import tracemalloc

from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, Text, ToolCall, UserMessage
from talaria.journal.entries import ModelFinished, RunFinished, ToolFinished, ToolStarted, TurnStarted
from talaria.live.buffer import LiveBuffer
from talaria.ports.model import TextDelta
from tests.live.running import RUN

LIMIT = 64 * 1024


def weight(buffer: LiveBuffer) -> int:
    """About how many bytes the buffer's frames take, their encoded form included."""
    frames = buffer.read(buffer.end - buffer.kept) or []
    return sum(frame.size for frame in frames)


def started() -> LiveBuffer:
    buffer = LiveBuffer(RUN, 0)
    message = UserMessage((Text("hi"),))
    buffer.publish("s", [(1, TurnStarted(run=RUN, at=0, agent="a", model="m", message=message))])
    return buffer


def round_of(buffer: LiveBuffer, number: int, size: int, *, read: bool) -> None:
    buffer.begin(1, number)
    for _ in range(10):
        buffer.say([TextDelta("x" * size)])
    seq, id_ = number * 3 - 1, f"call_{number}"
    message = AssistantMessage((Text("x" * size * 10), ToolCall(id_, "look")))
    said = ModelFinished(run=RUN, at=0, round=number, epoch=1, attempt=number, message=message)
    buffer.publish("s", [(seq, said), (seq + 1, ToolStarted(run=RUN, at=0, call_id=id_, name="look"))])
    buffer.publish("s", [(seq + 2, ToolFinished(run=RUN, at=0, call_id=id_, name="look", text="seen"))])
    if read:
        for frame in buffer.read(buffer.end - buffer.kept) or []:
            frame.sse(RUN.encode())


def test_five_thousand_rounds_take_no_more_than_ten() -> None:
    buffer = started()
    for number in range(1, 5_001):
        round_of(buffer, number, 20, read=True)
        if number % 500 == 0:
            assert weight(buffer) <= LIMIT
    assert buffer.kept < 200


def test_five_thousand_rounds_measured() -> None:
    buffer = started()
    for number in range(1, 101):
        round_of(buffer, number, 20, read=False)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(101, 1_001):
            round_of(buffer, number, 20, read=False)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < LIMIT


def test_a_large_message_is_whole_until_it_is_recorded_and_then_goes() -> None:
    buffer = started()
    buffer.begin(1, 1)
    text = "x" * 1024 * 1024
    for at in range(0, len(text), 1024):
        buffer.say([TextDelta(text[at : at + 1024])])
    frames = buffer.unread(1)
    assert frames is not None
    assert "".join(str(frame.event.data) for frame in frames) == text
    said = ModelFinished(run=RUN, at=0, round=1, epoch=1, attempt=1, message=AssistantMessage((Text(text),)))
    buffer.publish("s", [(2, said)])
    round_of(buffer, 2, 20, read=True)
    assert weight(buffer) <= LIMIT


def test_a_large_message_that_was_not_streamed_goes_too() -> None:
    buffer = started()
    buffer.begin(1, 1)
    text = "x" * 1024 * 1024
    said = ModelFinished(run=RUN, at=0, round=1, epoch=1, attempt=1, message=AssistantMessage((Text(text),)))
    buffer.publish("s", [(2, said)])
    round_of(buffer, 2, 20, read=True)
    assert weight(buffer) <= LIMIT
    buffer.publish("s", [(99, RunFinished(run=RUN, at=0, reason="stop"))])
    buffer.rest()
    assert buffer.kept == 0


def test_the_key_of_a_session_is_no_part_of_it() -> None:
    assert SessionKey("t", "u", "-", "s").path not in str(started().read(0))
