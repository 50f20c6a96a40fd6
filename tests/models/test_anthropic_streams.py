"""Streams of the Messages API: each gives exactly what is expected of it, and the same however its bytes are cut."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import ContextOverflow, Fault, ModelError, ModelRejected, ModelUnavailable
from talaria.core.messages import Reasoning, Text, ToolCall
from talaria.models.accounting import priced
from talaria.models.anthropic.decoder import AnthropicDecoder
from talaria.models.anthropic.dialect import AnthropicDialect
from talaria.models.families import Profiles
from talaria.ports.model import Answer, Delta
from tests.models.field_cases import Stream, decoded, messages_sse, messages_streams, splits

ALL = list(messages_streams())
parametrized = pytest.mark.parametrize("stream", ALL, ids=[stream.name for stream in ALL])


def read(parts: Sequence[bytes]) -> tuple[list[Delta], dict[str, Any]]:
    return decoded(parts, AnthropicDecoder)


def answer(name: str) -> tuple[Answer, Sequence[str]]:
    decoder = AnthropicDecoder("test")
    decoder.feed(next(stream.body for stream in ALL if stream.name == name))
    return decoder.end()[1], decoder.notes


@parametrized
def test_a_stream_gives_exactly_what_is_expected(stream: Stream) -> None:
    assert read([stream.body])[1] == stream.expected


@parametrized
def test_byte_by_byte_it_gives_the_same(stream: Stream) -> None:
    assert read([bytes([byte]) for byte in stream.body]) == read([stream.body])


@parametrized
@given(data=st.data())
def test_any_split_gives_the_same_deltas(stream: Stream, data: st.DataObject) -> None:
    assert read(data.draw(splits(stream.body))) == read([stream.body])


@parametrized
def test_other_line_ends_give_the_same_deltas(stream: Stream) -> None:
    for end in (b"\r\n", b"\r") if b"event:" in stream.body else ():
        assert read([stream.body.replace(b"\n", end)]) == read([stream.body])


@parametrized
def test_an_answer_that_is_cut_anywhere_has_no_call_that_was_not_whole(stream: Stream) -> None:
    whole = [call["arguments"] for call in stream.expected["tool_calls"]]
    for end in range(0, len(stream.body), 7):
        outcome = read([stream.body[:end]])[1]
        if outcome["finish"] != "error":
            assert all(call["arguments"] in whole for call in outcome["tool_calls"])


def test_a_document_that_ends_with_a_line_end_is_one_all_the_same() -> None:
    stream = next(stream for stream in messages_streams() if stream.name == "one_document")
    for parts in ([stream.body + b"\n"], [stream.body, b"\n"]):
        assert read(parts)[1] == stream.expected


def test_parts_keep_the_order_in_which_the_model_wrote_them_and_their_signatures() -> None:
    assert answer("thinking_text_calls")[0].message.parts == (
        Reasoning("Let me see.", "test", {"type": "thinking", "signature": "SIG1"}),
        Text("Looking."),
        ToolCall("toolu_01", "search", '{"q": 1}'),
        ToolCall("toolu_02", "now", "{}"),
    )
    kinds = [type(part) for part in answer("thinking_between_calls")[0].message.parts]
    assert kinds == [ToolCall, Reasoning, ToolCall]
    assert answer("two_texts")[0].message.parts == (Text("One."), Text(" Two."))


def test_thinking_that_is_not_shown_is_kept_for_its_issuer() -> None:
    thought = Reasoning("", "test", {"type": "thinking", "signature": "SIG1"})
    assert answer("omitted_thinking")[0].message.parts == (thought, Text("Yes."))
    thought = Reasoning("", "test", {"type": "redacted_thinking", "data": "OPAQUE"})
    assert answer("redacted_thinking")[0].message.parts == (thought, Text("Yes."))


def test_thinking_that_was_cut_off_has_no_signature() -> None:
    assert answer("max_tokens_in_thinking")[0].message.parts == (Reasoning("Hm", "test"),)


def test_what_is_odd_is_noted() -> None:
    assert answer("text")[1] == []
    assert "pause_turn" in answer("pause_turn")[1][0]
    assert "weary" in answer("unknown_reason")[1][0]
    assert "cyber: Not this." in answer("refusal")[1][0]
    assert [note.split("'")[1] for note in answer("unknown_events_and_blocks")[1]] == [
        "server_tool_use",
        "web_search_tool_result",
    ]


def test_input_has_what_the_cache_gave_and_took_and_the_cost_knows_the_difference() -> None:
    usage = answer("cached_usage")[0].usage
    assert (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens) == (1_205, 1_000, 200)
    price = Profiles("anthropic").of("claude-opus-5-5").price
    cost = priced(usage, price).cost
    assert cost == pytest.approx((5 * 4 + 1_000 * 0.2 + 200 * 5 + 15 * 20) / 1e6)
    assert answer("omitted_thinking")[0].usage.reasoning_tokens == 9


def test_a_long_silence_of_thinking_is_no_waiting_for_the_first_token() -> None:
    decoder = AnthropicDecoder("test")
    events = next(stream.body for stream in ALL if stream.name == "omitted_thinking").split(b"\n\n")
    decoder.feed(events[0] + b"\n\n")
    assert decoder.progress == "waiting"
    assert decoder.feed(events[1] + b"\n\n") == []
    assert decoder.progress == "answering"


def test_what_a_server_adds_to_a_call_is_its_own() -> None:
    block = {"type": "tool_use", "id": "t", "name": "now", "input": {}, "caller": {"type": "direct"}}
    decoder = AnthropicDecoder("me")
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    decoder.feed(messages_sse([start, {"type": "content_block_stop", "index": 0}, delta]))
    assert decoder.end()[1].message.calls[0].payload == {"me": {"caller": {"type": "direct"}}}


BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


@pytest.mark.parametrize(
    ("status", "kind", "words", "error", "fault"),
    [
        (400, "invalid_request_error", BOUND, ModelRejected, Fault.REASONING),
        (400, "invalid_request_error", "Invalid `signature` in `thinking` block", ModelRejected, Fault.REASONING),
        (400, "invalid_request_error", "Expected `thinking`, but found `tool_use`", ModelRejected, Fault.REASONING),
        (400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum", ContextOverflow, Fault.NONE),
        (400, "invalid_request_error", "Your credit balance is too low", ModelRejected, Fault.MONEY),
        (400, "invalid_request_error", "You have reached your specified API usage limits.", ModelRejected, Fault.MONEY),
        (400, "invalid_request_error", "`temperature` is deprecated for this model.", ModelRejected, Fault.NONE),
        (401, "authentication_error", "invalid x-api-key", ModelRejected, Fault.KEY),
        (402, "billing_error", "pay", ModelRejected, Fault.MONEY),
        (403, "permission_error", "no", ModelRejected, Fault.KEY),
        (404, "not_found_error", "model: claude-9", ModelRejected, Fault.MODEL),
        (413, "request_too_large", "Request exceeds the maximum size", ContextOverflow, Fault.NONE),
        (429, "rate_limit_error", "slow down", ModelUnavailable, Fault.RATE),
        (500, "api_error", "Internal server error", ModelUnavailable, Fault.NONE),
        (504, "timeout_error", "late", ModelUnavailable, Fault.NONE),
        (529, "overloaded_error", "Overloaded", ModelUnavailable, Fault.NONE),
    ],
)
def test_errors_are_told_apart(status: int, kind: str, words: str, error: type[ModelError], fault: Fault) -> None:
    body = b'{"type":"error","error":{"type":"%s","message":%s}}'
    said = AnthropicDialect().failure(status, (), body % (kind.encode(), quoted(words)))
    assert (type(said), said.fault) == (error, fault)


def test_a_spend_limit_is_no_rate_limit() -> None:
    body = (
        b'{"error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}'
    )
    assert AnthropicDialect().failure(429, (), body).fault is Fault.MONEY


def test_a_request_that_is_too_large_for_the_front_door_is_an_overflow() -> None:
    assert isinstance(AnthropicDialect().failure(413, (), b"<html>413</html>"), ContextOverflow)


def quoted(words: str) -> bytes:
    return b'"%s"' % words.replace('"', '\\"').encode()
