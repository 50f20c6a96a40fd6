"""Whatever a server sends as Messages events, the decoder ends with an answer or a ModelError, however it is cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import ModelError, ModelUnavailable
from talaria.models.anthropic.decoder import AnthropicDecoder
from tests.models.field_cases import decoded, pieces, sse

kinds = st.sampled_from(
    [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "ping"),
        *("message_stop", "text", "thinking", "redacted_thinking", "tool_use", "text_delta", "thinking_delta"),
        *("input_json_delta", "signature_delta"),
    ]
)
leaves: st.SearchStrategy[Any] = st.one_of(
    *(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.integers(10**18, 10**30), st.text(max_size=4)),
    kinds,
    st.sampled_from(["end_turn", "max_tokens", "refusal", "{}", '{"a":1}', "{", "\ud83d", "\ude42", "\x00"]),
)
names = st.sampled_from(
    [
        *("type", "index", "delta", "content_block", "message", "usage", "error", "text", "thinking", "partial_json"),
        *("signature", "data", "id", "name", "input", "stop_reason", "stop_details", "input_tokens", "content"),
    ]
)
values: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5)
)
inner: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": kinds},
    optional={"text": leaves, "thinking": leaves, "partial_json": leaves, "name": leaves, "input": values},
)
events: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": kinds}, optional={"index": st.sampled_from([0, 1, None, "0"]), "delta": inner, "content_block": inner}
)


@given(st.lists(events | values, max_size=8), st.integers(1, 50))
def test_any_json_gives_an_answer_or_a_model_error_whatever_the_split(many: list[Any], size: int) -> None:
    body = sse([*map(json.dumps, many), '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}'])
    assert decoded(pieces(body, range(0, len(body), size)), AnthropicDecoder) == decoded([body], AnthropicDecoder)


@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer_or_a_model_error(data: bytes) -> None:
    decoder = AnthropicDecoder("test")
    try:
        decoder.feed(data)
        decoder.end()
    except ModelError:
        pass


def test_an_event_without_end_is_given_up_on() -> None:
    decoder = AnthropicDecoder("test")
    megabyte = b"x" * 1024 * 1024
    for piece in (b"data: ", *[megabyte] * 31):
        assert decoder.feed(piece) == []
    with pytest.raises(ModelUnavailable, match="too large"):
        decoder.feed(megabyte)


@given(st.lists(st.text(max_size=5), max_size=20))
def test_text_comes_through_unchanged(texts: list[str]) -> None:
    said = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts
    ]
    body = sse([*map(json.dumps, said), '{"type":"message_stop"}'])
    assert decoded([body], AnthropicDecoder)[1]["text"] == "".join(texts).replace("\x00", "\ufffd")


def test_a_block_without_a_name_is_no_call() -> None:
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "input": {"q": 1}},
    }
    stop = {"type": "content_block_stop", "index": 0}
    over = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    decoder = AnthropicDecoder("test")
    decoder.feed(sse([*map(json.dumps, (start, stop, over))]))
    assert decoder.end()[1].message.calls == ()
