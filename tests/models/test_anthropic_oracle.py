"""Anthropic's own client as a judge: it takes what we send, and reads the same out of the same bytes."""

import json
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import ContentBlockParam, ToolParam
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from talaria.core.errors import ModelError
from talaria.core.messages import Reasoning, Text, ToolCall
from talaria.models.anthropic.decoder import AnthropicDecoder
from talaria.ports.model import Answer
from tests.models.anthropic_requests import BODIES
from tests.models.field_cases import Stream, messages_streams

WITH_A_JUDGE = [stream for stream in messages_streams() if stream.body.startswith(b"event:")]
NOT_JUDGED = {
    "a_call_that_never_closed",
    "arguments_that_are_no_json",
    "max_tokens_after_a_whole_call",
    "max_tokens_in_arguments",
    "halves_of_a_character",
}
"""Arguments that are no whole JSON, and characters cut in two: the client leaves out or refuses what we keep."""
_FINISH = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "content_filter"}


def judged(body: bytes) -> Any:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    with (
        httpx2.Client(transport=httpx2.MockTransport(answer)) as http,
        anthropic.Anthropic(api_key="none", http_client=http, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "go"}]) as stream,
    ):
        return stream.get_final_message()


def ours(body: bytes) -> Answer:
    decoder = AnthropicDecoder("test")
    decoder.feed(body)
    return decoder.end()[1]


@pytest.mark.parametrize("stream", WITH_A_JUDGE, ids=[stream.name for stream in WITH_A_JUDGE])
def test_the_official_client_reads_the_same(stream: Stream) -> None:
    if stream.expected["finish"] == "error":
        with pytest.raises(ModelError):
            ours(stream.body)
        return
    if stream.name in NOT_JUDGED:
        return
    mine, theirs = ours(stream.body), judged(stream.body)
    texts = [block.text for block in theirs.content if block.type == "text" and block.text]
    assert [part.text for part in mine.message.parts if isinstance(part, Text)] == texts
    finish = _FINISH.get(theirs.stop_reason, "tool_calls" if mine.message.calls else "stop")
    assert mine.finish == finish
    usage = theirs.usage
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    assert mine.usage.input_tokens == usage.input_tokens + cached + written
    assert (mine.usage.output_tokens, mine.usage.cached_tokens) == (usage.output_tokens, cached)
    if finish in {"stop", "tool_calls"}:
        calls = [(block.id, block.name, block.input) for block in theirs.content if block.type == "tool_use"]
        assert [(call.id, call.name, json.loads(call.arguments)) for call in mine.message.calls] == calls
        thoughts = [block for block in theirs.content if block.type in {"thinking", "redacted_thinking"}]
        assert [sent_back(part) for part in mine.message.parts if isinstance(part, Reasoning)] == [
            block.to_dict() for block in thoughts
        ]
        order = [_KINDS[block.type] for block in theirs.content if block.type in _KINDS]
        assert [type(part) for part in mine.message.parts] == order


_KINDS = {"text": Text, "thinking": Reasoning, "redacted_thinking": Reasoning, "tool_use": ToolCall}


def sent_back(part: Reasoning) -> dict[str, Any]:
    assert part.payload is not None
    return {**part.payload, "thinking": part.text} if part.payload["type"] == "thinking" else part.payload


_REQUEST = TypeAdapter[Any](MessageCreateParamsStreaming)
_TOOL = TypeAdapter[Any](ToolParam)
_BLOCK = TypeAdapter[Any](ContentBlockParam)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_the_official_types_know_every_member_of_our_requests(name: str) -> None:
    body = BODIES[name]()
    body.pop("temperature", None)  # not known to the version of the API that the client speaks
    for tool in body.pop("tools", ()):
        assert _TOOL.validate_python(tool) == tool
    for block in body.pop("system", ()):
        assert _BLOCK.validate_python(block) == block
    for message in body["messages"]:
        for block in message.pop("content"):
            assert _BLOCK.validate_python(block) == block
        assert message.pop("role") in {"user", "assistant"}
    assert not any(body.pop("messages"))
    taken = _REQUEST.validate_python({**body, "messages": []})
    assert {key: taken[key] for key in body} == body
