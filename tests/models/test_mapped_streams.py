"""Replies of private protocols: exact however they are cut, and errors told apart."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import ContextOverflow, Fault, ModelError, ModelRejected, ModelUnavailable, StreamTruncated
from talaria.models.mapped.decoder import MappedDecoder
from talaria.models.mapped.mapping import ProtocolMapping
from talaria.models.mapped.reading import Reading
from talaria.ports.model import Answer, Delta
from tests.models.field_cases import splits
from tests.models.mapped_protocols import GROWING, HOUSE, ISSUER, LINES, PROTOCOLS, Protocol, events, lines

parametrized = pytest.mark.parametrize("protocol", PROTOCOLS, ids=[each.name for each in PROTOCOLS])


def decoder(mapping: ProtocolMapping) -> MappedDecoder:
    return MappedDecoder(Reading(mapping), ISSUER)


def decoded(mapping: ProtocolMapping, parts: Sequence[bytes]) -> tuple[list[Delta], Answer, list[str]]:
    reply, deltas = decoder(mapping), list[Delta]()
    for part in parts:
        deltas += reply.feed(part)
    last, answer = reply.end()
    return [*deltas, *last], answer, reply.notes


def failure(mapping: ProtocolMapping, *parts: bytes) -> ModelError:
    with pytest.raises(ModelError) as failed:
        decoded(mapping, parts)
    return failed.value


def simple(**more: Any) -> ProtocolMapping:
    return ProtocolMapping.model_validate({"stream": "/s", "text": "t", "finish": "f", **more})


@parametrized
def test_a_reply_gives_exactly_what_is_expected(protocol: Protocol) -> None:
    deltas, answer, notes = decoded(protocol.mapped, [protocol.body])
    assert tuple(delta.text for delta in deltas) == protocol.pieces
    assert answer == Answer(protocol.message, protocol.finish, protocol.usage)
    assert notes == []


@parametrized
def test_byte_by_byte_it_gives_the_same(protocol: Protocol) -> None:
    cut = [bytes([byte]) for byte in protocol.body]
    assert decoded(protocol.mapped, cut) == decoded(protocol.mapped, [protocol.body])


@parametrized
@given(data=st.data())
def test_any_split_gives_the_same(protocol: Protocol, data: st.DataObject) -> None:
    cut = data.draw(splits(protocol.body))
    assert decoded(protocol.mapped, cut) == decoded(protocol.mapped, [protocol.body])


@pytest.mark.parametrize("protocol", [HOUSE, GROWING, LINES], ids=["house", "growing", "lines"])
def test_a_stream_that_was_cut_off_anywhere_is_no_answer(protocol: Protocol) -> None:
    marker = {HOUSE.name: b'"TOOL"', GROWING.name: b'"tool_calls", "message"', LINES.name: b"done_reason"}[
        protocol.name
    ]
    for end in range(1, protocol.body.index(marker), 7):
        assert isinstance(failure(protocol.mapped, protocol.body[:end]), StreamTruncated)


def test_json_lines_are_heard_as_they_come() -> None:
    reply = decoder(LINES.mapped)
    first, second = LINES.body.split(b"\n")[:2]
    assert [delta.text for delta in reply.feed(first + b"\n")] == ["Well."]
    assert [delta.text for delta in reply.feed(second)] == []
    assert [delta.text for delta in reply.feed(b"\n")] == ["A\nB"]


def test_without_a_word_for_its_end_a_stream_may_end_anywhere() -> None:
    mapping = ProtocolMapping.model_validate({"stream": "/s", "text": "t"})
    assert decoded(mapping, [events({"t": "a"}, {"t": "b"})])[1].message.text == "ab"


@pytest.mark.parametrize(
    ("why", "finish", "noted"),
    [
        ("stop", "stop", False),
        ("MAX_TOKENS", "length", False),
        ("FULL", "length", False),
        (True, "stop", False),
        ("because", "stop", True),
        ("safety", "content_filter", False),
    ],
)
def test_why_it_ended_is_understood_or_noted(why: Any, finish: str, noted: bool) -> None:
    _, answer, notes = decoded(simple(finishReasons={"full": "length"}), [events({"t": "a"}, {"f": why})])
    assert (answer.finish, bool(notes)) == (finish, noted)


def test_a_call_that_the_token_limit_cut_off_is_counted_and_not_run() -> None:
    mapping = simple(toolCalls="c")
    cut = {"c": [{"id": "1", "name": "search", "arguments": '{"q": "half'}], "f": "length"}
    _, answer, _ = decoded(mapping, [events({"t": "Well."}, cut)])
    assert (answer.message.calls, answer.cut_calls, answer.finish) == ((), 1, "length")


@pytest.mark.parametrize(
    ("mapping", "event", "kind", "fault"),
    [
        ({"error": "e"}, {"e": {"code": 401, "message": "Incorrect API key"}}, ModelRejected, Fault.KEY),
        ({"error": "e"}, {"e": "overloaded, try later"}, ModelUnavailable, Fault.NONE),
        ({"error": {"path": "code", "message": "m"}}, {"code": 503, "m": "down"}, ModelUnavailable, Fault.NONE),
        ({"error": {"path": "code", "message": "m"}}, {"code": "E7", "m": "prompt is too long"}, ContextOverflow, None),
        ({"error": {"path": "ok", "fine": ["yes"]}}, {"ok": "no"}, ModelUnavailable, Fault.NONE),
    ],
)
def test_an_error_in_a_stream_is_told_apart(
    mapping: dict[str, Any], event: Any, kind: type[ModelError], fault: Fault | None
) -> None:
    error = failure(simple(**mapping), events(event))
    assert type(error) is kind
    assert error.fault is (fault or Fault.NONE)


@pytest.mark.parametrize("code", [0, 200, "0", None, False, ""], ids=repr)
def test_codes_that_are_fine_are_no_errors(code: Any) -> None:
    mapping = simple(error={"path": "code"})
    assert decoded(mapping, [events({"code": code, "t": "a", "f": "stop"})])[1].message.text == "a"


def test_what_was_said_before_an_error_is_heard_first() -> None:
    reply = decoder(simple(error="e"))
    assert [delta.text for delta in reply.feed(events({"t": "Well"}, {"e": "no"}))] == ["Well"]
    with pytest.raises(ModelUnavailable):
        reply.end()
    assert reply.partial().text == "Well"


def test_text_that_is_taken_back_is_refused() -> None:
    error = failure(simple(cumulative=True), events({"t": "Hello"}, {"t": "Good day"}))
    assert "mapping is really cumulative" in error.message


def test_half_a_character_waits_for_its_other_half() -> None:
    stream = b'data: {"t":"a\\ud83d"}\n\ndata: {"t":"a\\ud83d\\ude42"}\n\ndata: {"f":"stop"}\n\n'
    assert decoded(simple(cumulative=True), [stream])[1].message.text == "a🙂"
    stream = b'data: {"t":"a\\ud83d"}\n\ndata: {"t":"\\ude42"}\n\ndata: {"f":"stop"}\n\n'
    assert decoded(simple(), [stream])[1].message.text == "a🙂"


def test_a_web_page_and_a_damaged_event_are_told_apart() -> None:
    assert "baseUrl" in failure(simple(), b"<!doctype html><p>Welcome").message
    assert "damaged" in failure(simple(), b'data: {"t": "a\n\n').message
    assert decoded(simple(), [b"data: ping\n\n" + events({"t": "a", "f": "stop"})])[1].message.text == "a"


def test_a_mapping_that_finds_nothing_is_told() -> None:
    mapping = ProtocolMapping.model_validate({"call": "/c", "text": "answer.text"})
    error = failure(mapping, json.dumps({"answer": {"txt": "Hello"}}).encode())
    assert "nothing in it where its route's mapping looks" in error.message
    assert "answer.text" in error.operator
    _, _, notes = decoded(simple(), [events({"t": {"parts": []}, "f": "stop"})])
    assert notes == ["what the mapping calls text is no text but dict", "the answer has nothing at t"]


def test_nothing_counts_after_the_end() -> None:
    assert (
        decoded(simple(end="END"), [events({"t": "a"}) + b"data: END\n\n" + events({"t": "b"})])[1].message.text == "a"
    )
    assert decoded(simple(), [lines({"t": "a"}, {"f": "stop"}) + b"\n\n"])[1].message.text == "a"
