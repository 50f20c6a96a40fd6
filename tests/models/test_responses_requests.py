"""Requests of the Responses dialect: what is sent, what goes back to whom, and that nothing is written twice."""

import json
from typing import Any

import httpx2
import pytest
from openai import OpenAI
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from talaria.core.errors import ContextOverflow, Fault, ModelRejected, ModelUnavailable
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
from talaria.models.dialects import make_dialect
from talaria.models.families import Profiles
from talaria.models.gateway import Gateway
from talaria.models.responses.dialect import ResponsesDialect
from talaria.models.routes import Route
from talaria.ports.model import Answer, Connection, HttpCall, ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile
from tests.models.fakes import Canned, CannedTransport, NotingClock, collect
from tests.models.responses_streams import openai_streams
from tests.models.responses_wire import message, reasoning, saying, sse

SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"q": {"type": "integer"}}})
GO = UserMessage((Text("go"),))
WENT = {"role": "user", "content": "go"}
CALL = ToolCall("run-1", "search", '{"q":1}', "a")
RESULT = ToolMessage("run-1", "search", "r")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def to(issuer: str = "me", **profile: Any) -> Connection:
    return Connection("https://api.example.com/v1/", "gpt-x", issuer, "key-123", profile=Profile(**profile))


def call(request: ModelRequest, issuer: str = "me", **profile: Any) -> HttpCall:
    return ResponsesDialect().request(request, to(issuer, **profile))


def body(request: ModelRequest, issuer: str = "me", **profile: Any) -> dict[str, Any]:
    written = json.loads(call(request, issuer, **profile).body)
    assert None not in written.values()
    return written


def items(history: list[Message], issuer: str = "me", **profile: Any) -> list[dict[str, Any]]:
    return body(ModelRequest("gpt-x", Prompt("", (), history)), issuer, **profile)["input"]


def answered() -> AssistantMessage:
    """An answer with reasoning before each thing that is done."""
    decoder = ResponsesDialect().decoder(to())
    decoder.feed(next(stream.body for stream in openai_streams() if stream.name == "reasoning_and_calls"))
    return decoder.end()[1].message


def test_a_plain_request_has_no_field_too_many() -> None:
    sent = call(ModelRequest("gpt-x", Prompt("Be brief.", (), [GO])))
    assert sent.url == "https://api.example.com/v1/responses"
    assert dict(sent.headers) == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "authorization": "Bearer key-123",
    }
    assert json.loads(sent.body) == {
        "model": "gpt-x",
        "instructions": "Be brief.",
        "input": [WENT],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def test_options_are_sent_under_their_names_here() -> None:
    request = ModelRequest("gpt-x", Prompt("", [SEARCH]), "enabled", 0.2, 100, "required", output_schema=SCHEMA)
    sent = body(request, thinking_on='{"reasoning":{"effort":"high","summary":"auto"}}')
    described = {"name": "search", "description": "Search.", "parameters": SEARCH.parameters}
    assert sent["tools"] == [{"type": "function", **described, "strict": False}]
    assert (sent["temperature"], sent["max_output_tokens"], sent["tool_choice"]) == (0.2, 100, "required")
    assert sent["reasoning"] == {"effort": "high", "summary": "auto"}
    assert sent["text"] == {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}}


def test_a_schema_outside_of_strict_mode_is_asked_for_without_it() -> None:
    sent = body(ModelRequest("gpt-x", Prompt(), output_schema={"type": "object"}))
    assert sent["text"]["format"]["strict"] is False


def test_a_model_that_never_thinks_is_not_asked_for_what_it_thought() -> None:
    assert "include" not in body(ModelRequest("gpt-x", Prompt("", (), [GO])), reasoning="never")


def test_thinking_is_told_as_this_dialect_does() -> None:
    profile = Profiles("responses", thinking={"effort": "high"}).of("some-model")
    on, off = json.loads(profile.thinking_on), json.loads(profile.thinking_off)
    assert on == {"reasoning": {"effort": "high", "summary": "auto"}}
    assert off == {"reasoning": {"effort": "none"}}
    assert isinstance(make_dialect(Route("", "https://api.example.com", "responses")), ResponsesDialect)


def test_an_answer_goes_back_to_its_issuer_item_by_item_as_it_came() -> None:
    sent = items([GO, answered(), ToolMessage("a", "search", "1"), ToolMessage("b", "search", "2")])
    first, note, second, a, b = sent[1:6]
    assert first == reasoning("**Plan**\n\nFirst, look.", "Then say.")
    content: list[dict[str, Any]] = [{"type": "output_text", "text": "Looking.", "annotations": []}]
    own = {"id": "msg_1", "status": "completed", "phase": "commentary"}
    assert note == {**own, "type": "message", "role": "assistant", "content": content}
    assert second == reasoning(id_="rs_2")
    assert [(item["id"], item["call_id"], item["name"], item["arguments"]) for item in (a, b)] == [
        ("fc_a", "a", "search", '{"q":1}'),
        ("fc_b", "b", "search", '{"q":2}'),
    ]
    assert sent[6:] == [
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
    ]


def test_for_another_issuer_there_is_no_reasoning_and_no_id_that_asks_for_it() -> None:
    sent = call(ModelRequest("gpt-x", Prompt("", (), [GO, answered()])), "other").body
    assert json.loads(sent)["input"] == [
        WENT,
        {"type": "message", "role": "assistant", "content": "Looking."},
        {"type": "function_call", "call_id": "a", "name": "search", "arguments": '{"q":1}'},
        {"type": "function_call", "call_id": "b", "name": "search", "arguments": '{"q":2}'},
    ]


def test_reasoning_that_was_refused_leaves_without_the_ids_that_ask_for_it() -> None:
    answer = answered()
    refused = body(ModelRequest("gpt-x", Prompt("", (), [GO, answer]), reasoning_back=False))["input"]
    unsigned = AssistantMessage(tuple(part for part in answer.parts if not isinstance(part, Reasoning)))
    left_out = items([GO, unsigned])
    assert not any("id" in item or item.get("type") == "reasoning" for item in (*refused, *left_out))
    assert left_out[1] == {"phase": "commentary", "type": "message", "role": "assistant", "content": "Looking."}


def test_an_answer_without_reasoning_goes_back_without_ids() -> None:
    decoder = ResponsesDialect().decoder(to())
    decoder.feed(next(stream.body for stream in openai_streams() if stream.name == "text"))
    assert items([GO, decoder.end()[1].message])[1] == {
        "type": "message",
        "role": "assistant",
        "content": "Hello, 世界 👋",
    }


def test_reasoning_that_nothing_follows_stays_here() -> None:
    thought = Reasoning("", "me", reasoning())
    assert items([GO, AssistantMessage((thought,))]) == [WENT]
    assert items([GO, AssistantMessage((Text("Well."), thought))])[1:] == [
        {"type": "message", "role": "assistant", "content": "Well."}
    ]


@pytest.mark.parametrize(
    ("back", "with_calls", "without"), [("never", False, False), ("with_tools", True, False), ("always", True, True)]
)
def test_reasoning_that_is_not_encrypted_goes_back_where_the_model_reads_it(
    back: str, with_calls: bool, without: bool
) -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
    thought = Reasoning("Hm.", "me", item)
    assert (item in items([AssistantMessage((thought, CALL))], reasoning_back=back)) is with_calls
    assert (item in items([AssistantMessage((thought, Text("Well.")))], reasoning_back=back)) is without


def test_messages_are_written_once_and_their_bytes_stay() -> None:
    prompt = Prompt("Be brief.", [SEARCH], [GO])
    request = ModelRequest("gpt-x", prompt)
    first = call(request).body
    history, rest = first[: first.index(b'],"tools"')], first[first.index(b'],"tools"') :]
    encoded = next(iter(prompt.cache.values()))
    prompt.messages.extend([answered(), ToolMessage("a", "search", "1"), GO])
    second = call(request).body
    assert second.startswith(history + b",")
    assert second.endswith(rest)
    assert next(iter(prompt.cache.values())) is encoded
    assert call(request).body == second


def test_pictures_are_data_urls_and_files_are_text() -> None:
    parts = (Text("look"), Image("image/png", "QUJD"), File("a.txt", text="inside"), Image("image/png", blob="b1"))
    assert items([UserMessage(parts)])[0]["content"] == [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
        {"type": "input_text", "text": "File a.txt:\ninside"},
        {"type": "input_text", "text": "[an image of type image/png that cannot be shown here]"},
    ]
    assert isinstance(items([UserMessage(parts)], vision=False)[0]["content"], str)


def test_nothing_empty_is_sent_and_arguments_are_json() -> None:
    history: list[Message] = [
        SystemMessage("note"),
        AssistantMessage((ToolCall("run-1", "search", '{"q":', "a"),)),
        ToolMessage("run-1", "search", ""),
        AssistantMessage(()),
        UserMessage((Text(""),)),
    ]
    sent = items(history, system_role="developer", empty_content="omit")
    assert sent[0] == {"role": "developer", "content": "note"}
    assert json.loads(sent[1]["arguments"]) == {"invalid_arguments": '{"q":'}
    assert sent[2:] == [{"type": "function_call_output", "call_id": "a", "output": "(no output)"}]
    assert items(history)[2]["output"] == ""


def test_openai_s_own_library_takes_the_request_and_sends_it_the_same() -> None:
    parts = (Text("look"), Image("image/png", "QUJD"))
    history: list[Message] = [GO, answered(), RESULT, UserMessage(parts), AssistantMessage((Text("A picture."),))]
    request = ModelRequest("gpt-x", Prompt("Be brief.", [SEARCH], history), "enabled", None, 100, output_schema=SCHEMA)
    written = body(request, thinking_on='{"reasoning":{"effort":"high","summary":"auto"}}')
    adapter = TypeAdapter[ResponseCreateParamsStreaming](ResponseCreateParamsStreaming)
    taken = adapter.validate_python(written)
    seen: list[httpx2.Request] = []

    def reply(sent: httpx2.Request) -> httpx2.Response:
        seen.append(sent)
        stream = sse(saying(message("ok"), "ok"))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    http = httpx2.Client(transport=httpx2.MockTransport(reply))
    with OpenAI(api_key="key", base_url="http://model.example/v1", http_client=http) as client:
        list(client.responses.create(**taken))
    assert seen[0].url.path == "/v1/responses"
    assert json.loads(seen[0].content) == written


@pytest.mark.parametrize(
    "message_",
    [
        "Item 'rs_68f' of type 'reasoning' was provided without its required following item.",
        "Item 'fc_68f' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68f'.",
        "Item with id 'rs_68f' not found. Items are not persisted when `store` is set to false.",
        "The encrypted content for item rs_68f could not be verified.",
    ],
)
@pytest.mark.parametrize("status", [400, 404])
def test_reasoning_that_is_not_taken_back_is_told_apart(message_: str, status: int) -> None:
    error = {"error": {"message": message_, "type": "invalid_request_error", "param": "input", "code": None}}
    failure = ResponsesDialect().failure(status, (), json.dumps(error).encode())
    assert isinstance(failure, ModelRejected)
    assert failure.fault is Fault.REASONING


@pytest.mark.parametrize(
    ("status", "error", "kind", "fault"),
    [
        (400, {"code": "invalid_encrypted_content", "message": "No."}, ModelRejected, Fault.REASONING),
        (400, {"message": "Your input exceeds the context window of this model."}, ContextOverflow, Fault.NONE),
        (400, {"code": "unsupported_value", "message": "Unsupported value: 'none'."}, ModelRejected, Fault.NONE),
        (401, {"code": "invalid_api_key", "message": "Incorrect API key."}, ModelRejected, Fault.KEY),
        (404, {"code": "model_not_found", "message": "The model `x` does not exist."}, ModelRejected, Fault.MODEL),
        (429, {"code": "insufficient_quota", "message": "You exceeded your quota."}, ModelRejected, Fault.MONEY),
        (429, {"code": "rate_limit_exceeded", "message": "Rate limit reached."}, ModelUnavailable, Fault.RATE),
        (503, {"code": "server_error", "message": "Overloaded."}, ModelUnavailable, Fault.NONE),
    ],
)
def test_each_failure_is_told_apart(status: int, error: dict[str, Any], kind: type, fault: Fault) -> None:
    failure = ResponsesDialect().failure(status, (), json.dumps({"error": error}).encode())
    assert type(failure) is kind
    assert failure.fault is fault


async def test_when_encrypted_reasoning_is_refused_the_answer_is_made_without_it() -> None:
    refusal = {"error": {"code": "invalid_encrypted_content", "message": "It could not be verified."}}
    hello = next(stream.body for stream in openai_streams() if stream.name == "text")
    replies = [Canned((json.dumps(refusal).encode(),), status=400), Canned((hello,))]
    transport = CannedTransport(replies)
    route = Route("gpt", "http://x", "responses", retries=0)
    thought = Reasoning("", route.connection("gpt-x").issuer, reasoning())
    history: list[Message] = [GO, AssistantMessage((thought, CALL), "gpt-x"), RESULT]
    gateway = Gateway((route,), transport, NotingClock(), jitter=lambda: 1.0)
    said = await collect(gateway.stream(ModelRequest("gpt-x", Prompt("", (), history))))
    answer = said[-1]
    assert isinstance(answer, Answer)
    assert (answer.message.text, answer.reasoning_refused) == ("Hello, 世界 👋", True)
    assert [b"gAAAA" in sent.body for sent in transport.calls] == [True, False]
