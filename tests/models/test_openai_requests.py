"""Requests of the chat-completions dialect: what is sent, and that nothing is written twice."""

import json
from typing import Any

import pytest

from talaria.core.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.models.openai.dialect import OpenAiDialect
from talaria.ports.model import Connection, HttpCall, ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile
from tests.models.field_cases import field_case, sse

SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"q": {"type": "integer"}}})
GO = UserMessage((Text("go"),))
CALL = ToolCall("run-1", "search", '{"q":1}', "a")
HISTORY: list[Message] = [
    GO,
    AssistantMessage((CALL,)),
    ToolMessage("run-1", "search", ""),
    AssistantMessage(()),
    UserMessage((Text("go"),)),
]


def to(issuer: str = "test", **profile: Any) -> Connection:
    return Connection("https://api.example.com/v1/", "gpt-x", issuer, "key-123", profile=Profile(**profile))


def call(request: ModelRequest, issuer: str = "test", **profile: Any) -> HttpCall:
    return OpenAiDialect().request(request, to(issuer, **profile))


def body(request: ModelRequest, **profile: Any) -> dict[str, Any]:
    written = json.loads(call(request, **profile).body)
    assert None not in written.values()
    return written


def messages(history: list[Message], **profile: Any) -> list[dict[str, Any]]:
    return body(ModelRequest("gpt-x", Prompt("", (), history)), **profile)["messages"]


def test_a_plain_request_has_no_field_too_many() -> None:
    sent = call(ModelRequest("gpt-x", Prompt("Be brief.", (), [GO])))
    assert sent.url == "https://api.example.com/v1/chat/completions"
    assert dict(sent.headers) == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "authorization": "Bearer key-123",
    }
    assert json.loads(sent.body) == {
        "model": "gpt-x",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_options_are_sent_under_the_names_and_as_far_as_the_profile_says() -> None:
    request = ModelRequest("gpt-x", Prompt("", [SEARCH]), "enabled", 0.2, 100, "required")
    sent = body(request, thinking_on='{"reasoning_effort":"high"}')
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {"name": "search", "description": "Search.", "parameters": SEARCH.parameters},
        }
    ]
    assert (sent["temperature"], sent["max_tokens"], sent["tool_choice"]) == (0.2, 100, "required")
    assert sent["reasoning_effort"] == "high"
    sent = body(request, max_tokens_field="max_completion_tokens", usage_option=False)
    assert sent["max_completion_tokens"] == 100
    assert not {"max_tokens", "stream_options"} & set(sent)


def test_thinking_is_switched_off_where_the_profile_knows_how() -> None:
    request = ModelRequest("gpt-x", Prompt("", (), [GO]), "disabled")
    assert body(request, thinking_off='{"enable_thinking": false}')["enable_thinking"] is False
    assert set(body(request)) == {"model", "messages", "stream", "stream_options"}


@pytest.mark.parametrize(
    ("empty_content", "with_call", "tool_text"),
    [("null", {"content": None}, ""), ("empty", {"content": ""}, ""), ("omit", {}, "(no output)")],
)
def test_empty_content_is_what_the_model_takes(empty_content: str, with_call: dict[str, Any], tool_text: str) -> None:
    function = {"name": "search", "arguments": '{"q":1}'}
    assert messages(HISTORY, empty_content=empty_content) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", **with_call, "tool_calls": [{"id": "a", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": tool_text},
        {"role": "user", "content": "go"},
    ]


def test_messages_are_written_once_and_their_bytes_stay() -> None:
    prompt = Prompt("Be brief.", [SEARCH], HISTORY[:1])
    request = ModelRequest("gpt-x", prompt)
    first = call(request).body
    history, rest = first[: first.index(b'],"tools"')], first[first.index(b'],"tools"') :]
    encoded = next(iter(prompt.cache.values()))
    prompt.messages.extend(HISTORY[1:])
    second = call(request).body
    assert second.startswith(history + b",")
    assert second.endswith(rest)
    assert next(iter(prompt.cache.values())) is encoded
    assert call(request).body == second
    assert json.loads(second)["messages"][1:] == messages(HISTORY)


def test_each_profile_and_issuer_has_bytes_of_its_own() -> None:
    request = ModelRequest("gpt-x", Prompt("", (), HISTORY))
    assert b'"content":null' in call(request).body
    assert b'"content":null' not in call(request, empty_content="omit").body
    assert b'"content":null' in call(request, "other").body


def test_pictures_are_data_urls_and_files_are_text() -> None:
    parts = (Text("look"), Image("image/png", "QUJD"), File("a.txt", text="inside"), Image("image/png", blob="b1"))
    shown = messages([UserMessage(parts)])[0]["content"]
    assert shown == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
        {"type": "text", "text": "File a.txt:\ninside"},
        {"type": "text", "text": "[an image of type image/png that cannot be shown here]"},
    ]
    plain = messages([UserMessage(parts)], vision=False)[0]["content"]
    assert isinstance(plain, str)
    assert messages([UserMessage((Text("a"), File("a.txt", text="b")))])[0]["content"] == "a\n\nFile a.txt:\nb"


@pytest.mark.parametrize(
    ("back", "with_calls", "without"), [("never", None, None), ("with_tools", "mine", None), ("always", "mine", "mine")]
)
def test_reasoning_goes_back_to_its_issuer_where_the_model_wants_it(
    back: str, with_calls: str | None, without: str | None
) -> None:
    thoughts = (Reasoning("mine", "test"), Reasoning("another's", "else"))
    history: list[Message] = [
        GO,
        AssistantMessage((*thoughts, CALL)),
        ToolMessage("run-1", "search", "r"),
        AssistantMessage((*thoughts, Text("ok"))),
    ]
    sent = messages(history, reasoning_back=back)
    assert [sent[1].get("reasoning_content"), sent[3].get("reasoning_content")] == [with_calls, without]


def test_a_message_of_reasoning_only_is_left_out() -> None:
    assert messages([GO, AssistantMessage((Reasoning("hm", "test"),))], reasoning_back="always") == [
        {"role": "user", "content": "go"}
    ]


def test_one_id_given_to_two_calls_goes_back_once() -> None:
    calls = (ToolCall("r1", "search", "{}", "call_0"), ToolCall("r2", "search", "{}", "call_0"))
    sent = messages([GO, AssistantMessage(calls), ToolMessage("r1", "search", "1"), ToolMessage("r2", "search", "2")])
    assert [entry["id"] for entry in sent[1]["tool_calls"]] == ["call_0", "r2"]
    assert [message["tool_call_id"] for message in sent[2:]] == ["call_0", "r2"]


def test_arguments_that_are_no_json_go_back_as_json() -> None:
    sent = messages([GO, AssistantMessage((ToolCall("a", "search", '{"q":'),)), ToolMessage("a", "search", "bad")])
    assert json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"invalid_arguments": '{"q":'}


def test_system_messages_in_the_history_keep_their_place() -> None:
    assert messages([GO, SystemMessage("note")], system_role="developer")[1] == {"role": "developer", "content": "note"}


def test_a_signature_on_a_call_goes_back_unchanged_and_to_its_issuer_only() -> None:
    decoder = OpenAiDialect().decoder(to("google"))
    decoder.feed(sse(field_case("b07")["input"]["stream"]))
    answer = decoder.end()[1]
    assert answer.finish == "tool_calls"
    request = ModelRequest("gemini", Prompt("", (), [GO, answer.message]))
    sent = json.loads(call(request, "google").body)["messages"][1]["tool_calls"]
    assert [entry["id"] for entry in sent] == ["a", "b"]
    assert sent[0]["extra_content"] == {"google": {"thought_signature": "SIG"}}
    assert "extra_content" not in sent[1]
    assert b"SIG" not in call(request, "other").body
