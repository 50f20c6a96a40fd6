"""Whatever a server sends, the decoder ends with an answer or a ModelError, and never glues or loses text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import ModelError, ModelUnavailable
from talaria.models import failures
from talaria.models.openai.decoder import OpenAiDecoder
from tests.models.field_cases import decoded, pieces, sse

names = st.sampled_from(
    [
        *(
            "choices",
            "delta",
            "message",
            "index",
            "id",
            "function",
            "name",
            "arguments",
            "tool_calls",
            "content",
            "text",
        ),
        *("thinking", "reasoning", "refusal", "type", "reasoning_content", "usage", "prompt_tokens", "cached_tokens"),
        *("prompt_tokens_details", "finish_reason", "error", "code", "function_call", "extra_content"),
    ]
)
leaves: st.SearchStrategy[Any] = st.one_of(
    *(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.integers(10**18, 10**30), st.text(max_size=4)),
    st.sampled_from(["stop", "length", "c1", "{}", '{"a":1}', "{", "\ud83d", "\ude42", "\x00"]),
)
values: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5)
)
entries: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "b", "", None]),
        "index": st.sampled_from([0, 1, None, "0"]),
        "function": st.fixed_dictionaries(
            {}, optional={"name": st.sampled_from(["f", "g", ""]), "arguments": st.sampled_from(["", "{", "}", "{}"])}
        ),
    },
)
deltas: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional={"content": leaves, "tool_calls": st.lists(entries | leaves, max_size=3)}
)


def clean_chunk(delta: Any) -> Any:
    return {"choices": [{"index": 0, "delta": delta}]}


def stream(many: list[Any]) -> bytes:
    return sse([*map(json.dumps, many), '{"choices":[{"delta":{},"finish_reason":"stop"}]}', "[DONE]"])


many_values: st.SearchStrategy[list[Any]] = st.lists(
    st.one_of(values, deltas.map(clean_chunk), st.dictionaries(names, values, max_size=4)), max_size=8
)
chunks = many_values.map(stream)


@given(chunks, st.integers(1, 50))
def test_any_json_gives_an_answer_or_a_model_error_whatever_the_split(body: bytes, size: int) -> None:
    assert decoded(pieces(body, range(0, len(body), size))) == decoded([body])


@given(st.binary(max_size=200))
def test_any_bytes_give_an_answer_or_a_model_error(data: bytes) -> None:
    decoder = OpenAiDecoder("test")
    try:
        decoder.feed(data)
        decoder.end()
    except ModelError:
        pass


def test_bytes_that_are_no_utf8_spoil_only_themselves() -> None:
    body = b'data: {"choices":[{"delta":{"content":"a\xffb\xed\xa0\xbd\xed\xb8\x80"}}]}\n\ndata: [DONE]\n\n'
    text = decoded([body])[1]["text"]
    assert text.startswith("a\ufffdb")
    assert text.isprintable()


def test_an_event_without_end_is_given_up_on() -> None:
    decoder = OpenAiDecoder("test")
    megabyte = b"x" * 1024 * 1024
    for piece in (b"data: ", *[megabyte] * 31):
        assert decoder.feed(piece) == []
    with pytest.raises(ModelUnavailable, match="too large"):
        decoder.feed(megabyte)


@given(st.integers(300, 599), st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()))
def test_any_error_body_is_a_model_error(status: int, body: bytes) -> None:
    assert isinstance(failures.of_status(status, body), ModelError)


@given(values)
def test_any_error_value_within_a_stream_is_a_model_error(value: Any) -> None:
    assert isinstance(failures.in_stream(value), ModelError)


@given(st.lists(st.text(max_size=5), max_size=20))
def test_text_comes_through_unchanged(texts: list[str]) -> None:
    body = sse([*(json.dumps({"choices": [{"delta": {"content": text}}]}) for text in texts), "[DONE]"])
    assert decoded([body])[1]["text"] == "".join(texts).replace("\x00", "\ufffd")
