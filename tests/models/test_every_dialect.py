"""What all dialects do alike in a request, each in its own words."""

import json
from typing import Any

import pytest

from talaria.core.messages import AssistantMessage, Image, Message, Text, ToolCall, ToolMessage, UserMessage
from talaria.models.anthropic.dialect import AnthropicDialect
from talaria.models.openai.dialect import OpenAiDialect
from talaria.models.responses.dialect import ResponsesDialect
from talaria.ports.model import Connection, Dialect, ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile
from tests.models.valid_requests import CHECKS

GO = UserMessage((Text("go"),))
SEARCH = ToolSpec(
    "search",
    "Search.",
    {"type": "object", "properties": {"q": {"$ref": "#/$defs/Q"}}, "$defs": {"Q": {"type": "string", "title": "Q"}}},
)
PLAIN = {"type": "object", "properties": {"q": {"type": "string"}}}
parametrized = pytest.mark.parametrize(
    "dialect", [OpenAiDialect(), ResponsesDialect(), AnthropicDialect()], ids=["openai", "responses", "anthropic"]
)


def body(dialect: Dialect, request: ModelRequest, **profile: Any) -> dict[str, Any]:
    connection = Connection("https://api.example.com/v1", "m", "test", profile=Profile(**profile))
    return json.loads(dialect.request(request, connection).body)


def parameters(sent: dict[str, Any]) -> Any:
    tool = sent["tools"][0]
    return tool["input_schema"] if "input_schema" in tool else tool.get("function", tool)["parameters"]


def switch(sent: dict[str, Any]) -> Any:
    choice = sent.get("tool_choice")
    is_off = choice.get("disable_parallel_tool_use") if isinstance(choice, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return sent.get("parallel_tool_calls") if is_off is None else not is_off


@parametrized
def test_schemas_are_plain_where_the_model_takes_no_others(dialect: Dialect) -> None:
    request = ModelRequest("m", Prompt("", [SEARCH], [GO]))
    assert parameters(body(dialect, request)) == SEARCH.parameters
    assert parameters(body(dialect, request, schemas="plain")) == PLAIN


@parametrized
def test_a_model_that_must_not_call_in_parallel_is_told_so_where_there_are_tools(dialect: Dialect) -> None:
    request = ModelRequest("m", Prompt("", [SEARCH], [GO]))
    assert switch(body(dialect, request)) is None
    assert switch(body(dialect, request, parallel_tools=False)) is False
    assert switch(body(dialect, ModelRequest("m", Prompt("", (), [GO])), parallel_tools=False)) is None


@parametrized
@pytest.mark.parametrize(("name", "sent"), [("email.send", "email_send"), ("rm -rf", "rm_-rf"), ("x" * 70, "x" * 64)])
def test_a_name_that_providers_would_refuse_goes_back_as_one_that_they_take(
    dialect: Dialect, name: str, sent: str
) -> None:
    call = ToolCall("run-1", name, "{}", "a")
    history = [GO, AssistantMessage((call,)), ToolMessage("run-1", name, "no such tool")]
    written = json.dumps(body(dialect, ModelRequest("m", Prompt("", (), history))))
    assert f'"name": "{sent}"' in written
    assert name == sent or json.dumps(name) not in written


PICTURED: list[Message] = [
    GO,
    AssistantMessage((ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}"), ToolCall("c", "look", "{}"))),
    ToolMessage("a", "look", "a chart", images=(Image("image/png", "QUJD"),)),
    ToolMessage("b", "look", "nothing"),
    ToolMessage("c", "look", "", images=(Image("image/jpeg", "REVG"),)),
]
RULES = pytest.mark.parametrize(
    ("rule", "dialect", "profile"),
    [
        ("openai", OpenAiDialect(), {}),
        ("mistral", OpenAiDialect(), {"user_after_tool": False, "call_id_length": 9}),
        ("responses", ResponsesDialect(), {}),
        ("anthropic", AnthropicDialect(), {}),
    ],
)


@RULES
def test_pictures_of_results_are_shown_to_a_model_that_sees(
    rule: str, dialect: Dialect, profile: dict[str, Any]
) -> None:
    for rest in ([], [AssistantMessage((Text("I see."),)), GO], [GO]):
        sent = body(dialect, ModelRequest("m", Prompt("", (SEARCH,), [*PICTURED, *rest])), **profile)
        CHECKS[rule](sent)
        written = json.dumps(sent)
        assert written.count("QUJD") == written.count("REVG") == 1
        assert written.index("a chart") < written.index("QUJD") < written.index("REVG")
        assert "cannot be shown" not in written


@RULES
def test_a_model_without_eyes_is_told_of_pictures(rule: str, dialect: Dialect, profile: dict[str, Any]) -> None:
    sent = body(dialect, ModelRequest("m", Prompt("", (SEARCH,), PICTURED)), vision=False, **profile)
    CHECKS[rule](sent)
    written = json.dumps(sent)
    assert "QUJD" not in written
    assert "a chart\\n\\n[an image of type image/png that cannot be shown here]" in written


@RULES
def test_pictures_of_results_stay_where_they_are_as_a_conversation_grows(
    rule: str, dialect: Dialect, profile: dict[str, Any]
) -> None:
    prompt = Prompt("", (SEARCH,))
    request = ModelRequest("m", prompt)
    grown: dict[str, Any] = {}
    for message in [*PICTURED, AssistantMessage((Text("I see."),)), GO]:
        prompt.messages.append(message)
        grown = body(dialect, request, **profile)
    CHECKS[rule](grown)
    assert grown == body(dialect, ModelRequest("m", Prompt("", (SEARCH,), list(prompt.messages))), **profile)
