"""The official SDK as an oracle: the same bytes give it the same answer, and our requests are what it takes."""

import json
from typing import Any

import httpx2
import pytest
from openai import APIError, OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from talaria.core.messages import AssistantMessage, Image, Message, Text, ToolCall, ToolMessage, UserMessage
from talaria.models.openai.dialect import OpenAiDialect
from talaria.ports.model import Connection, ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile
from tests.models.field_cases import decoded, streams

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
SEARCH = ToolSpec("search", "Search.", SCHEMA)
HISTORY: list[Message] = [
    UserMessage((Text("look"), Image("image/png", "QUJD"))),
    AssistantMessage((ToolCall("run-1", "search", '{"a":"1"}', "call_1"),)),
    ToolMessage("run-1", "search", "found"),
    AssistantMessage((Text("Yes."),)),
    UserMessage((Text("go on"),)),
]
SAME = {
    *("openai_text", "openai_text_and_parallel_calls", "openai_length", "length_in_text", "content_filter"),
    *("a01-interleaved_id_first_only", "a04-null_then_text", "a04-null_next_to_sibling", "a04-never_any_arguments"),
    *("a05-preamble_and_trailing_usage", "a05-usage_null_on_every_chunk", "a07", "a09-finish_but_no_done"),
    *("a11-finish_twice", "name_in_pieces", "two_calls_with_one_id", "empty_id_strings", "id_comes_late"),
    *("id_changing_with_every_fragment", "braces_inside_a_string", "arguments_fragment_after_finish"),
    *("other_choices", "reasoning_between_text", "text_after_done", "several_data_lines", "mixed_line_ends"),
    *("deepseek_thinks_then_calls_with_keep_alives", "vllm_says_its_reasoning_in_both_fields"),
    *("llama_cpp_ends_with_timings", "qwen_says_ids_and_names_only_once"),
}
"""Streams that are clean enough for the SDK, which takes others for what they are not, or fails."""
FAILED = {
    *("error_mid_stream", "error_mid_stream_as_text", "error_no_quota", "error_context", "error_event"),
    "openrouter_provider_goes_away",
}
STREAMS = {each.name: each for each in streams()}


def client(reply: Any) -> OpenAI:
    http = httpx2.Client(transport=httpx2.MockTransport(reply))
    return OpenAI(api_key="key", base_url="https://x.example/v1", http_client=http, max_retries=0)


def heard(body: bytes) -> dict[str, Any]:
    """What the SDK makes of a stream, in the form of the field cases."""

    def reply(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    with client(reply) as sdk:
        for chunk in sdk.chat.completions.create(model="m", messages=[], stream=True):
            state.handle_chunk(chunk)
    answer = state.current_completion_snapshot
    choice = answer.choices[0]
    calls = [each.function for each in choice.message.tool_calls or ()]
    found: dict[str, Any] = {
        "text": (choice.message.content or "") + (choice.message.refusal or ""),
        "reasoning": getattr(choice.message, "reasoning_content", None) or "",
        "tool_calls": [{"name": call.name, "arguments": json.loads(call.arguments or "{}")} for call in calls],
        "finish": choice.finish_reason,
    }
    if answer.usage:
        counted = {"prompt_tokens", "completion_tokens", "total_tokens"}
        found["usage"] = answer.usage.model_dump(include=counted)
    return found


@pytest.mark.parametrize("name", sorted(SAME))
def test_the_same_bytes_give_the_same_answer(name: str) -> None:
    assert decoded([STREAMS[name].body])[1] == heard(STREAMS[name].body)


@pytest.mark.parametrize("name", sorted(FAILED))
def test_what_is_an_error_to_the_sdk_is_one_here(name: str) -> None:
    assert decoded([STREAMS[name].body])[1]["finish"] == "error"
    with pytest.raises(APIError):
        heard(STREAMS[name].body)


@pytest.mark.parametrize(
    ("fields", "profile"),
    [
        ({}, {}),
        ({"thinking": "enabled", "max_tokens": 9}, {"max_tokens_field": "max_completion_tokens"}),
        ({"tool_choice": "required", "temperature": 0.5}, {"system_role": "developer", "empty_content": "omit"}),
        ({"output_schema": SCHEMA, "tool_choice": "none"}, {"schemas": "plain", "empty_content": "empty"}),
    ],
)
def test_a_request_is_what_the_sdk_takes_and_would_send(fields: dict[str, Any], profile: dict[str, Any]) -> None:
    told = Profile(thinking_on='{"reasoning_effort":"high"}', **profile)
    request = ModelRequest("gpt-5.6", Prompt("Be brief.", [SEARCH], HISTORY), **fields)
    call = OpenAiDialect().request(request, Connection("https://x.example/v1", "gpt-5.6", "i", "key", profile=told))
    body = json.loads(call.body)
    TypeAdapter(CompletionCreateParamsStreaming).validate_python(body, extra="forbid")
    seen: list[httpx2.Request] = []

    def reply(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=b"data: [DONE]\n\n")

    with client(reply) as sdk:
        create: Any = sdk.chat.completions.create
        assert list(create(**body)) == []
    assert json.loads(seen[0].content) == body
    assert (seen[0].method, str(seen[0].url)) == (call.method, call.url)
    assert seen[0].headers["authorization"] == dict(call.headers)["authorization"]
