"""Streams of the Responses dialect: each gives exactly what is expected of it, however its bytes are cut."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI
from openai.types.responses import Response, ResponseFunctionToolCall

from talaria.core.messages import ToolCall
from talaria.models.responses.decoder import ResponsesDecoder
from talaria.ports.model import ReasoningDelta, TextDelta
from tests.models.field_cases import splits
from tests.models.responses_streams import openai_streams, streams
from tests.models.responses_wire import Stream, call, created, decoded, done, ended, sse

ALL = streams()
OPENAI = openai_streams()
parametrized = pytest.mark.parametrize("stream", ALL, ids=[stream.name for stream in ALL])


@parametrized
def test_a_stream_gives_exactly_what_is_expected(stream: Stream) -> None:
    assert decoded([stream.body])[1] == stream.expected


@parametrized
def test_byte_by_byte_it_gives_the_same(stream: Stream) -> None:
    assert decoded([bytes([byte]) for byte in stream.body]) == decoded([stream.body])


@parametrized
@given(data=st.data())
def test_any_split_gives_the_same_deltas(stream: Stream, data: st.DataObject) -> None:
    assert decoded(data.draw(splits(stream.body))) == decoded([stream.body])


@parametrized
def test_other_line_ends_give_the_same_deltas(stream: Stream) -> None:
    if not stream.body.startswith(b"event:"):
        return
    for end in (b"\r\n", b"\r"):
        assert decoded([stream.body.replace(b"\n", end)]) == decoded([stream.body])


@pytest.mark.parametrize("stream", OPENAI, ids=[stream.name for stream in OPENAI])
@given(data=st.data())
def test_a_stream_that_ends_early_gives_no_answer(stream: Stream, data: st.DataObject) -> None:
    whole = stream.body.rindex(b"event: ")
    cut = data.draw(st.integers(0, len(stream.body[whole:]) - 3)) + whole
    for end in (cut, data.draw(st.integers(0, whole))):
        assert decoded([stream.body[:end]])[1]["error"] == "stream_truncated"


@pytest.mark.parametrize("stream", OPENAI, ids=[stream.name for stream in OPENAI])
def test_openai_s_own_library_reads_the_same(stream: Stream) -> None:
    reply = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream.body)
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: reply))
    last: Response | None = None
    text: list[str] = []
    thought: list[str] = []
    with OpenAI(api_key="key", base_url="http://model.example/v1", http_client=http) as client:
        for event in client.responses.create(model="gpt-x", input="go", stream=True):
            match event.type:
                case "response.output_text.delta" | "response.refusal.delta":
                    text.append(event.delta)
                case "response.reasoning_summary_text.delta":
                    thought.append(event.delta)
                case "response.completed" | "response.incomplete":
                    last = event.response
                case _:
                    pass
    assert last is not None
    assert last.usage is not None
    decoder = ResponsesDecoder("me")
    deltas = decoder.feed(stream.body)
    answer = decoder.end()[1]
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == text
    assert [delta.text for delta in deltas if isinstance(delta, ReasoningDelta) and delta.text != "\n\n"] == thought
    calls = [item for item in last.output if isinstance(item, ResponseFunctionToolCall) and item.status == "completed"]
    ours = [part for part in answer.message.parts if isinstance(part, ToolCall)]
    assert [(call.id, call.name, call.arguments) for call in ours] == [
        (call.call_id, call.name, call.arguments) for call in calls
    ]
    usage, counts = answer.usage, last.usage
    assert (usage.input_tokens, usage.output_tokens) == (counts.input_tokens, counts.output_tokens)
    assert usage.cached_tokens == counts.input_tokens_details.cached_tokens
    assert usage.cache_write_tokens == counts.input_tokens_details.cache_write_tokens
    assert usage.reasoning_tokens == counts.output_tokens_details.reasoning_tokens
    assert (answer.finish in {"length", "content_filter"}) >= (last.status == "incomplete" and not ours)


def test_silent_thinking_is_not_yet_an_answer() -> None:
    stream = next(stream for stream in ALL if stream.name == "reasoning_and_calls")
    decoder = ResponsesDecoder("me")
    decoder.feed(stream.body[: stream.body.index(b"event: response.reasoning_summary_text.delta")])
    assert decoder.progress == "waiting"
    decoder.feed(stream.body[stream.body.index(b"event: response.reasoning_summary_text.delta") : -100])
    assert decoder.progress == "answering"
    decoder.feed(stream.body[-100:])
    assert decoder.progress == "done"


@pytest.mark.parametrize("ids", [("", "", "c"), ("a", "a", "c"), ("a", "a", "a"), ("", "", "")])
def test_calls_of_one_id_are_each_run_once_though_no_item_was_announced(ids: tuple[str, ...]) -> None:
    items = [call(id_, f'{{"q":{at}}}', id=f"fc_{at}") for at, id_ in enumerate(ids)]
    decoder = ResponsesDecoder("issuer")
    decoder.feed(sse([*created(), *(done(item, at) for at, item in enumerate(items)), ended("completed", items)]))
    calls = decoder.end()[1].message.calls
    assert [each.arguments for each in calls] == ['{"q":0}', '{"q":1}', '{"q":2}']
