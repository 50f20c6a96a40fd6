"""What hosts of chat completions want otherwise: how history goes back to them, and that docs/hosts.md is right."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from talaria.core.messages import AssistantMessage, Message, Reasoning, Text, ToolCall, ToolMessage, UserMessage
from talaria.core.usage import Usage
from talaria.models.families import Profiles
from talaria.models.negotiation import negotiate
from talaria.models.openai.dialect import OpenAiDialect
from talaria.models.routes import Route, find_route
from talaria.ports.model import Answer, ModelRequest, Prompt, ToolSpec
from talaria.runtime.routes import make_routes
from talaria.runtime.settings import ModelSettings
from tests.models.field_cases import field_case, load, sse

GO = UserMessage((Text("go"),))
SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"q": {"type": "integer"}}})
DOCS = Path(__file__).parents[2] / "docs"


def route(dialect: str = "openai") -> Route:
    return Route("", "https://host.example/v1", dialect, profile_of=Profiles(dialect).of)


def documented() -> list[Route]:
    block = (DOCS / "hosts.md").read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    return make_routes([ModelSettings.model_validate(each) for each in yaml.safe_load(block)["models"]])


def sent(model: str, history: list[Message], at: Route | None = None, **fields: Any) -> dict[str, Any]:
    connection = (at or route()).connection(model)
    request, _ = negotiate(
        ModelRequest(model, Prompt("", fields.pop("tools", ()), history), **fields), connection.profile
    )
    return json.loads(OpenAiDialect().request(request, connection).body)


def answered(model: str, stream: str, at: Route | None = None) -> Answer:
    """The answer that this model gives with a stream of tests/models/data/host_streams.json."""
    found = next(each for each in load("host_streams.json") if each["name"] == stream)
    body = found["body"].encode() if "body" in found else sse(found["sse"])
    decoder = OpenAiDialect().decoder((at or route()).connection(model))
    decoder.feed(body)
    return decoder.end()[1]


def with_results(message: AssistantMessage) -> list[Message]:
    return [GO, message, *(ToolMessage(call.id, call.name, "r") for call in message.calls)]


FOREIGN = AssistantMessage((Reasoning("secret", "else"), ToolCall("run-1", "search", '{"q":1}', "x1")))


@pytest.mark.parametrize(("dialect", "model"), [("deepseek", "deepseek-flash"), ("openai", "deepseek-v4-pro")])
def test_deepseek_gets_its_reasoning_back_after_calls_and_only_there(dialect: str, model: str) -> None:
    at = route(dialect)
    answer = answered(model, "deepseek_thinks_then_calls_with_keep_alives", at)
    assert answer.usage == Usage(100, 20, 64, 5)
    said = AssistantMessage((Reasoning("hm", at.connection(model).issuer), Text("Done.")))
    messages = sent(model, [*with_results(answer.message), said, GO], at)["messages"]
    assert messages[1] == {
        "role": "assistant",
        "content": "Wait.",
        "reasoning_content": "I look",
        "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "search", "arguments": '{"q":1}'}}],
    }
    assert messages[3] == {"role": "assistant", "content": "Done."}


@pytest.mark.parametrize(
    ("dialect", "model", "fill"),
    [("deepseek", "deepseek-flash", ""), ("openai", "kimi-k2.6", " "), ("openai", "glm-5.3", None)],
)
def test_where_a_call_has_no_reasoning_of_the_model_stands_what_it_takes(dialect: str, model: str, fill: Any) -> None:
    for message in (FOREIGN, AssistantMessage((ToolCall("a", "search"),))):
        written = sent(model, with_results(message), route(dialect))["messages"][1]
        assert written.get("reasoning_content") == fill
        assert "secret" not in json.dumps(written)
    assert "reasoning_content" not in sent(model, [GO, AssistantMessage((Text("ok"),)), GO])["messages"][1]


def test_reasoning_that_was_refused_is_left_out_for_deepseek_too() -> None:
    at = route("deepseek")
    answer = answered("deepseek-flash", "deepseek_thinks_then_calls_with_keep_alives", at)
    again = sent("deepseek-flash", with_results(answer.message), at, reasoning_back=False)
    assert again["messages"][1]["reasoning_content"] == ""


def gemini_calls(model: str = "gemini-3.8-flash") -> AssistantMessage:
    decoder = OpenAiDialect().decoder(route().connection(model))
    decoder.feed(sse(field_case("b07")["input"]["stream"]))
    return decoder.end()[1].message


def signatures(model: str, message: AssistantMessage) -> list[Any]:
    calls = sent(model, with_results(message))["messages"][1]["tool_calls"]
    return [call.get("extra_content", {}).get("google", {}).get("thought_signature") for call in calls]


def test_gemini_gets_the_signature_of_the_first_parallel_call_back() -> None:
    assert signatures("gemini-3.8-flash", gemini_calls()) == ["SIG", None]


def test_gemini_gets_the_documented_placeholder_for_the_calls_of_others() -> None:
    two = AssistantMessage((ToolCall("a", "search"), ToolCall("b", "search")))
    assert signatures("gemini-3.8-flash", two) == ["skip_thought_signature_validator", None]
    assert signatures("gemini-3.1-pro", gemini_calls()) == ["skip_thought_signature_validator", None]
    assert signatures("gpt-4o", gemini_calls()) == [None, None]


def test_gemini_gets_no_empty_text_no_thoughts_and_plain_schemas() -> None:
    thought = answered("gemini-3.8-flash", "gemini_thoughts_are_flagged_and_tagged").message
    tools = [
        ToolSpec("now", "Tell the time.", {"type": "object", "properties": {}}),
        ToolSpec(
            "add",
            "Add.",
            {
                "type": "object",
                "properties": {"p": {"$ref": "#/$defs/P"}},
                "$defs": {"P": {"type": "object", "properties": {"x": {"type": "integer", "default": 1}}}},
                "additionalProperties": False,
            },
        ),
    ]
    body = sent(
        "gemini-3.8-flash", [*with_results(gemini_calls()), thought, GO], tools=tools, output_schema=tools[1].parameters
    )
    assert "content" not in body["messages"][1]
    assert body["messages"][4] == {"role": "assistant", "content": "The answer is </thought>."}
    point = {"type": "object", "properties": {"x": {"type": "integer"}}}
    plain = {"type": "object", "properties": {"p": point}}
    assert [tool["function"].get("parameters") for tool in body["tools"]] == [None, plain]
    assert body["response_format"]["json_schema"]["schema"] == plain


def test_a_signature_on_a_text_goes_back_on_its_message() -> None:
    decoder = OpenAiDialect().decoder(route().connection("gemini-3.8-flash"))
    delta = '{"content":"Hi","extra_content":{"google":{"thought_signature":"S"}}}'
    decoder.feed(sse([f'{{"choices":[{{"delta":{delta},"finish_reason":"stop"}}]}}']))
    message = decoder.end()[1].message
    assert sent("gemini-3.8-flash", [GO, message, GO])["messages"][1] == {
        "role": "assistant",
        "content": "Hi",
        "extra_content": {"google": {"thought_signature": "S"}},
    }
    assert "extra_content" not in sent("gemini-3.7-flash", [GO, message, GO])["messages"][1]


def test_mistral_gets_ids_that_it_takes_thoughts_as_parts_and_no_field_too_many() -> None:
    issuer = route().connection("mistral-medium-latest").issuer
    calls = (ToolCall("run-1", "search", "{}", "call_with_a_long_id"), ToolCall("run-2", "search", "{}", "AbCdEf123"))
    history: list[Message] = [
        GO,
        AssistantMessage((Reasoning("hm", issuer), *calls)),
        *(ToolMessage(call.id, "search", "r") for call in calls),
        GO,
        AssistantMessage((Reasoning("so", issuer), Text("Yes"))),
        GO,
    ]
    body = sent("mistral-medium-latest", history, tools=[SEARCH], thinking="enabled")
    assert set(body) == {"model", "messages", "stream", "tools", "reasoning_effort"}
    messages = body["messages"]
    assert [message["role"] for message in messages] == [
        *("user", "assistant", "tool", "tool", "assistant", "user", "assistant", "user")
    ]
    ids = [call["id"] for call in messages[1]["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in messages[2:4]]
    assert ids[1] == "AbCdEf123"
    assert len(ids[0]) == 9
    assert ids[0].isalnum()
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True}
    assert messages[1]["content"] == [thought]
    assert messages[6]["content"][1] == {"type": "text", "text": "Yes"}
    assert sent("mistral-medium-latest", history[:4])["messages"] == messages[:4]


def test_kimi_gets_its_own_ids_back_and_no_temperature() -> None:
    answer = answered("kimi-k2.6", "kimi_says_usage_in_the_choice")
    assert answer.usage == Usage(19, 21, 10)
    body = sent("kimi-k2.6", with_results(answer.message), temperature=0.2, max_tokens=5)
    assert body["messages"][1]["tool_calls"][0]["id"] == body["messages"][2]["tool_call_id"] == "functions.search:0"
    assert body["messages"][1]["reasoning_content"] == "hm"
    assert "temperature" not in body
    assert body["max_completion_tokens"] == 5


def test_ollama_as_documented() -> None:
    at = find_route(documented(), "qwen3:8b")
    answer = answered("qwen3:8b", "ollama_thinks_in_reasoning_and_calls_at_once", at)
    body = sent(
        "qwen3:8b", with_results(answer.message), at, tools=[SEARCH], tool_choice="required", thinking="disabled"
    )
    assert body["messages"][1]["content"] == ""
    assert body["messages"][1]["reasoning"] == "Okay"
    assert body["reasoning_effort"] == "none"
    assert "tool_choice" not in body
    assert answer.usage == Usage(9, 4)


def test_vllm_as_documented() -> None:
    at = find_route(documented(), "Qwen/Qwen3-8B")
    body = sent("Qwen/Qwen3-8B", [GO], at, thinking="disabled")
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert not {"reasoning_effort", "enable_thinking"} & set(body)


def test_llama_cpp_as_documented() -> None:
    at = find_route(documented(), "gemma-3-270m")
    assert set(sent("gemma-3-270m", [GO], at, thinking="enabled")) == {"model", "messages", "stream", "stream_options"}
    assert answered("gemma-3-270m", "llama_cpp_ends_with_timings", at).usage == Usage(12, 3, 8)


def test_groq_as_documented() -> None:
    at = find_route(documented(), "openai/gpt-oss-120b")
    body = sent("openai/gpt-oss-120b", [GO], at, thinking="enabled", max_tokens=7)
    assert (body["reasoning_effort"], body["max_completion_tokens"]) == ("medium", 7)
    assert answered("openai/gpt-oss-120b", "groq_says_usage_in_an_object_of_its_own", at).usage == Usage(8, 2)


def test_openrouters_details_are_joined_and_go_back_whole_to_it_alone() -> None:
    model = "anthropic/claude-any"
    at = find_route(documented(), model)
    details = [
        {"type": "reasoning.text", "text": "I ", "format": "f", "index": 0, "id": None},
        {"type": "reasoning.text", "text": "look", "index": 0},
        {"type": "reasoning.text", "text": "", "signature": "SIG", "index": 0},
        {"type": "reasoning.encrypted", "data": "abc", "id": "r1", "index": 1},
        {"type": "reasoning.encrypted", "data": "def", "id": "r2", "index": 1},
    ]
    chunks = [json.dumps({"choices": [{"delta": {"reasoning_details": [each]}}]}) for each in details]
    decoder = OpenAiDialect().decoder(at.connection(model))
    decoder.feed(sse([*chunks, '{"choices":[{"delta":{"content":"Yes"},"finish_reason":"stop"}]}']))
    message = decoder.end()[1].message
    assert message.reasoning == "I look"
    body = sent(model, [GO, message, GO], at, thinking="enabled")
    assert body["messages"][1] == {
        "role": "assistant",
        "content": "Yes",
        "reasoning_details": [
            {"type": "reasoning.text", "text": "I look", "format": "f", "index": 0, "id": None, "signature": "SIG"},
            *details[3:],
        ],
    }
    assert body["reasoning"] == {"effort": "medium"}
    assert "reasoning_details" not in sent(model, [GO, message, GO])["messages"][1]


def test_gpt_oss_never_sees_references() -> None:
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"type": "string"}}}
    sent_tools = sent("gpt-oss:20b", [GO], tools=[ToolSpec("f", "", schema)])["tools"]
    assert sent_tools[0]["function"]["parameters"] == {"type": "object", "properties": {"p": {"type": "string"}}}
