"""Requests of the Messages dialect: what is sent, that nothing is written twice, and where the cache is marked."""

import json
import re
from typing import Any

import pytest

from talaria.core.messages import (
    AssistantMessage,
    Image,
    Message,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.models.anthropic.messages import MARK
from talaria.models.negotiation import negotiate
from talaria.ports.model import Connection, ModelRequest, Prompt
from tests.models.anthropic_requests import (
    CALL,
    GO,
    HIDDEN,
    HISTORY,
    SCHEMA,
    SEARCH,
    SIGNED,
    body,
    call,
    messages,
    to,
    unmarked,
)

CACHE = {"type": "ephemeral"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def result(call_id: str, words: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": words, **more}


def test_a_plain_request_has_no_field_too_many() -> None:
    sent = call(ModelRequest("some", Prompt("Be brief.", (), [GO])), to(prompt_cache=False))
    assert sent.url == "https://api.example.com/v1/messages"
    assert dict(sent.headers) == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "anthropic-version": "2023-06-01",
        "x-api-key": "key-123",
    }
    assert json.loads(sent.body) == {
        "model": "some",
        "system": [text("Be brief.")],
        "messages": [{"role": "user", "content": [text("go")]}],
        "stream": True,
        "max_tokens": 8_192,
    }


def test_a_conversation_is_sent_block_by_block() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    use = {"type": "tool_use", "name": "search"}
    assert messages(HISTORY) == [
        {"role": "user", "content": [text("go")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "SIG"},
                text("Looking."),
                {**use, "id": "toolu_1", "input": {"q": 1}, "caller": {"type": "direct"}},
                {"type": "redacted_thinking", "data": "OPAQUE"},
                {**use, "id": "toolu_2", "input": {"q": 2}},
            ],
        },
        {
            "role": "user",
            "content": [
                result("toolu_1", "r"),
                result("toolu_2", "(no output)", is_error=True),
                text("and?"),
                image,
                text("File a.txt:\ninside"),
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "", "signature": "SIG2"}, text("Done.")],
        },
        {"role": "user", "content": [text("more")]},
    ]


def test_tools_and_choices() -> None:
    request = ModelRequest("some", Prompt("", [SEARCH], [GO]), tool_choice="required")
    sent = body(request)
    assert unmarked(sent["tools"]) == [{"name": "search", "description": "Search.", "input_schema": SEARCH.parameters}]
    assert sent["tool_choice"] == {"type": "any"}
    assert body(request, to(parallel_tools=False))["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    request = ModelRequest("some", Prompt("", [SEARCH], [GO]))
    assert "tool_choice" not in body(request)
    assert body(request, to(parallel_tools=False))["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    request = ModelRequest("some", Prompt("", [SEARCH], [GO]), tool_choice="none")
    assert body(request, to(parallel_tools=False))["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in body(ModelRequest("some", Prompt("", (), [GO]), tool_choice="none"))


def test_messages_are_written_once_and_their_bytes_stay() -> None:
    prompt = Prompt("Be brief.", [SEARCH], HISTORY[:1])
    request, connection = ModelRequest("some", prompt), to()
    before = b""
    for answered in (HISTORY[1:4], HISTORY[4:5], HISTORY[5:]):
        sent = call(request, connection).body.replace(MARK, b"")
        history = sent[: sent.index(b'}]}],"stream"')]
        assert history.startswith(before)
        assert call(request, connection).body.replace(MARK, b"") == sent
        before = history
        prompt.messages.extend(answered)
    assert unmarked(body(request, connection)["messages"]) == messages(HISTORY)
    assert len(prompt.cache) == 1


def marks(sent: dict[str, Any]) -> list[Any]:
    """Where the cache is marked: tools, system, and (message, block)."""
    blocks = [
        (f"{number}/{len(sent['messages'])}", block)
        for number, message in enumerate(sent["messages"])
        for block in (message["content"][-1],)
    ]
    named = [("tools", sent["tools"][-1]), ("system", sent["system"][-1]), *blocks]
    found = [name for name, block in named if block.get("cache_control") == CACHE]
    assert json.dumps(sent).count("cache_control") == len(found) <= 4
    return found


def test_the_cache_is_marked_after_what_stays_and_where_this_request_and_the_last_one_end() -> None:
    prompt = Prompt("Be brief.", [SEARCH], HISTORY[:1])
    request = ModelRequest("some", prompt)
    assert marks(body(request)) == ["tools", "system", "0/1"]
    prompt.messages.extend(HISTORY[1:4])
    assert marks(body(request)) == ["tools", "system", "0/3", "2/3"]
    prompt.messages.extend(HISTORY[4:])
    assert marks(body(request)) == ["tools", "system", "2/5", "4/5"]
    assert MARK not in call(request, to(prompt_cache=False)).body


def test_a_prompt_that_is_built_anew_is_marked_at_the_same_places() -> None:
    prompt = Prompt("Be brief.", [SEARCH], HISTORY[:1])
    request = ModelRequest("some", prompt)
    for message in HISTORY[1:]:
        call(request, to())
        prompt.messages.append(message)
    anew = ModelRequest("some", Prompt("Be brief.", [SEARCH], HISTORY))
    assert call(request, to()).body == call(anew, to()).body


def test_thinking_goes_back_to_its_issuer_only() -> None:
    elsewhere = messages(HISTORY, to(issuer="else"))
    assert "SIG" not in json.dumps(elsewhere)
    assert "OPAQUE" not in json.dumps(elsewhere)
    assert "caller" not in json.dumps(elsewhere)
    request = ModelRequest("some", Prompt("", (), HISTORY), reasoning_back=False)
    assert "thinking" not in json.dumps(body(request)["messages"])
    foreign: list[Message] = [GO, AssistantMessage((Reasoning("Hm.", "test"), Text("ok"))), GO]
    assert messages(foreign)[1]["content"] == [text("ok")]


@pytest.mark.parametrize(("back", "count"), [("never", 0), ("with_tools", 1), ("always", 2)])
def test_configuration_can_keep_thinking_back(back: str, count: int) -> None:
    assert json.dumps(messages(HISTORY, to(reasoning_back=back))).count('"type": "thinking"') == count


def test_no_text_is_blank_and_no_message_empty() -> None:
    history: list[Message] = [
        GO,
        AssistantMessage((Text("\n\n"), CALL)),
        ToolMessage("run-1", "search", " \n"),
        AssistantMessage(()),
        AssistantMessage((Text(" "),)),
        AssistantMessage((SIGNED,)),
        UserMessage((Text(""),)),
        UserMessage((Text("go"),)),
    ]
    sent = messages(history)
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[1]["content"]] == ["tool_use"]
    assert sent[2]["content"] == [result("toolu_1", "(no output)"), text("go")]


def test_roles_take_turns_and_a_person_begins_and_ends() -> None:
    assert messages([AssistantMessage((Text("a"),)), AssistantMessage((Text("b "),))]) == [
        {"role": "user", "content": [text("(The conversation begins here.)")]},
        {"role": "assistant", "content": [text("a"), text("b ")]},
        {"role": "user", "content": [text("Go on.")]},
    ]
    assert messages([GO, UserMessage((Text("b"),), sent="now")]) == [
        {"role": "user", "content": [text("go"), text("b"), text("now")]}
    ]


def test_instructions_at_the_beginning_are_system_and_later_ones_keep_their_place() -> None:
    prompt = Prompt("Be brief.", (), [SystemMessage("Be kind."), GO, SystemMessage("note")])
    sent = body(ModelRequest("some", prompt))
    assert unmarked(sent["system"]) == [text("Be brief."), text("Be kind.")]
    assert "cache_control" in sent["system"][1]
    assert unmarked(sent["messages"]) == [{"role": "user", "content": [text("go"), text("note")]}]


def test_ids_of_other_providers_are_written_anew_on_both_sides() -> None:
    calls = (ToolCall("r1", "search", "{}", "call_0|fc:1"), ToolCall("r2", "search", "{}", "call_0|fc:1"))
    results = (ToolMessage("r1", "search", "1"), ToolMessage("r2", "search", "2"))
    again = (ToolCall("r1", "search", "{}", "call_0|fc:1"), ToolCall("调用", "search"))
    more = (ToolMessage("r1", "search", "3"), ToolMessage("调用", "search", "4"))
    sent = messages([GO, AssistantMessage(calls), *results, AssistantMessage(again), *more])
    used = [block["id"] for message in (sent[1], sent[3]) for block in message["content"]]
    assert used == ["call_0_fc_1", "call_0_fc_1_2", "call_0_fc_1_3", "__"]
    assert all(re.fullmatch("[a-zA-Z0-9_-]+", each) for each in used)
    answered = [block["tool_use_id"] for message in (sent[2], sent[4]) for block in message["content"]]
    assert answered == used


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"q": 123456789012345678901234567890}', {"q": 123456789012345678901234567890}),
        ('{"q":', {"invalid_arguments": '{"q":'}),
        ("[1]", {"invalid_arguments": "[1]"}),
        ('{"q": NaN}', {"q": None}),
        ('{"q": "\\ud800"}', {"q": "\ufffd"}),
    ],
)
def test_arguments_are_an_object_whatever_was_written(written: str, sent: Any) -> None:
    history: list[Message] = [
        GO,
        AssistantMessage((ToolCall("a", "search", written),)),
        ToolMessage("a", "search", "x"),
    ]
    assert messages(history)[1]["content"][0]["input"] == sent


def test_what_cannot_be_seen_is_named() -> None:
    parts = (Image("image/png", "QUJD"), Image("image/tiff", "QUJD"), Image("image/png", blob="b1"))
    kinds = [block["type"] for block in messages([UserMessage(parts)])[0]["content"]]
    assert kinds == ["image", "text", "text"]
    assert [block["type"] for block in messages([UserMessage(parts)], to(vision=False))[0]["content"]] == ["text"] * 3


def wants(model: str, **wanted: Any) -> dict[str, Any]:
    return body(ModelRequest(model, Prompt("", [SEARCH], [GO]), **wanted), to(model))


def test_each_generation_is_told_to_think_in_its_own_way() -> None:
    adaptive = {"type": "adaptive", "display": "summarized"}
    for model in ("claude-opus-5-5", "claude-fable-5-2", "claude-sonnet-5", "claude-opus-4-8", "claude-sonnet-4-6"):
        sent = wants(model, thinking="enabled")
        assert sent["thinking"] == adaptive
        assert sent["output_config"] == {"effort": "medium" if model == "claude-opus-5-5" else "high"}
        assert sent["max_tokens"] == 128_000
    assert wants("claude-haiku-4-5-20251001", thinking="enabled")["thinking"]["budget_tokens"] == 8_000
    assert "thinking" not in wants("claude-3-5-haiku-latest", thinking="enabled")


def test_each_generation_is_told_not_to_think_in_its_own_way() -> None:
    for model, told in (
        ("claude-opus-5-5", None),
        ("claude-sonnet-5-5", {"type": "between_tools"}),
        ("claude-sonnet-5", {"type": "disabled"}),
        ("claude-haiku-5-5-20261001", {"type": "disabled"}),
        ("claude-haiku-4-5", {"type": "disabled"}),
        ("claude-3-5-haiku-latest", None),
    ):
        assert wants(model, thinking="disabled").get("thinking") == told
        assert "thinking" not in wants(model)
    assert wants("claude-opus-5-5", thinking="disabled")["output_config"] == {"effort": "low"}


def test_what_current_models_refuse_is_not_sent_and_said() -> None:
    wanted = {"tool_choice": "required", "thinking": "disabled", "temperature": 0.2}
    request = ModelRequest("m", Prompt("", [SEARCH], [GO]), **wanted)  # pyright: ignore[reportArgumentType]
    for model, left, sent in (
        ("claude-opus-5-5", 3, {}),
        ("claude-sonnet-5-5", 2, {}),
        ("claude-sonnet-5", 1, {"tool_choice": {"type": "any"}}),
        ("claude-haiku-4-5", 0, {"tool_choice": {"type": "any"}, "temperature": 0.2}),
        ("claude-of-next-year", 3, {}),
    ):
        assert len(negotiate(request, to(model).profile)[1]) == left
        asked = wants(model, **wanted)
        assert {name: asked[name] for name in ("tool_choice", "temperature") if name in asked} == sent
    assert "tool_choice" not in wants("claude-sonnet-5", tool_choice="required")


def test_names_of_other_hosts_are_the_same_models() -> None:
    assert to("anthropic/claude-opus-4.8").profile == to("claude-opus-4-8").profile
    assert to("claude-3.7-sonnet").profile == to("claude-3-7-sonnet").profile


def test_versions_and_betas_are_the_models_and_a_route_has_the_last_word() -> None:
    request = ModelRequest("m", Prompt("", (), [GO]))
    assert dict(call(request, to("claude-opus-5-5")).headers)["anthropic-version"] == "2026-10-21"
    old = dict(call(request, to("claude-haiku-4-5")).headers)
    assert (old["anthropic-version"], old["anthropic-beta"]) == ("2023-06-01", "interleaved-thinking-2025-05-14")
    given = (("Anthropic-Version", "2030-01-01"), ("Authorization", "Bearer x"))
    headers = call(request, Connection("https://x", "m", "i", "key", given, to("claude-opus-5-5").profile)).headers
    assert [pair for pair in headers if pair[0].lower() in {"anthropic-version", "authorization", "x-api-key"}] == [
        *given
    ]


@pytest.mark.parametrize(
    ("wanted", "budget", "limit"), [(None, 8_000, 64_000), (500, 8_000, 8_500), (20_000, 8_000, 20_000)]
)
def test_the_limit_is_above_the_budget_for_thinking(wanted: int | None, budget: int, limit: int) -> None:
    assert wants("claude-haiku-4-5", thinking="enabled", max_tokens=wanted)["max_tokens"] == limit
    request = ModelRequest("some", Prompt("", (), [GO]), "enabled", max_tokens=wanted)
    assert body(request, to(route={"budget": budget}))["max_tokens"] > budget


def test_a_round_that_began_without_thinking_goes_on_without_a_budget() -> None:
    connection = to("claude-haiku-4-5")
    done = ToolMessage("run-1", "search", "r")

    def thinks(*history: Message, model: Connection = connection) -> bool:
        return "thinking" in body(ModelRequest("m", Prompt("", (), history), "enabled"), model)

    assert thinks(GO)
    assert thinks(GO, AssistantMessage((SIGNED, CALL)), done)
    assert not thinks(GO, AssistantMessage((CALL,)), done)
    assert thinks(GO, AssistantMessage((CALL,)), done, AssistantMessage((Text("ok"),)), GO)
    assert thinks(GO, AssistantMessage((SIGNED, CALL)), done, AssistantMessage((CALL,)), done)
    assert thinks(GO, AssistantMessage((CALL,)), done, model=to("claude-opus-5-5"))


def test_an_answer_with_a_schema_keeps_the_effort() -> None:
    sent = wants("claude-opus-5-5", thinking="enabled", output_schema=SCHEMA)
    schema = {
        "type": "object",
        "properties": {"total": {"type": "number"}},
        "required": ["total"],
        "additionalProperties": False,
    }
    assert sent["output_config"] == {"effort": "medium", "format": {"type": "json_schema", "schema": schema}}
    again = wants("claude-opus-5-5", thinking="enabled")
    assert again["output_config"] == {"effort": "medium"}


def test_a_schema_without_an_equal_is_left_out() -> None:
    schema = {"type": "object", "properties": {"of": {"type": "object", "additionalProperties": {"type": "string"}}}}
    assert "output_config" not in wants("claude-opus-5-5", output_schema=schema)


def test_thinking_that_was_not_shown_goes_back_byte_for_byte() -> None:
    history: list[Message] = [GO, AssistantMessage((HIDDEN, CALL)), ToolMessage("run-1", "search", "r")]
    thought = {"type": "thinking", "thinking": "", "signature": "SIG2"}
    assert messages(history)[1]["content"][0] == thought
