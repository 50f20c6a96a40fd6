"""Requests of private protocols: the template filled in, and what it cannot ask for."""

from typing import Any

import msgspec
import pytest
import yaml

from talaria.core.errors import ConfigurationError, Fault
from talaria.core.messages import AssistantMessage, File, Image, Text, ToolCall, ToolMessage, UserMessage
from talaria.models.dialects import make_dialect
from talaria.models.mapped.dialect import MappedDialect
from talaria.models.mapped.mapping import ProtocolMapping
from talaria.ports.model import Connection, HttpCall, ModelRequest, Prompt, ToolSpec
from talaria.ports.profile import Profile
from talaria.runtime.configure import read_settings
from talaria.runtime.routes import make_routes
from tests.fences import Fence, fences
from tests.repository import ROOT

DOCUMENTED = [fence for fence in fences(ROOT / "docs" / "models.md") if fence.language == "yaml"]
LOOK = ToolSpec("look", "Look.", {"type": "object"})
TALK = (
    UserMessage((Text("What is\nthere?"), File("a.txt", text="A")), sent="noon"),
    AssistantMessage((Text("I look."), ToolCall("c1", "look", '{"at": 1}', provider_id="p1"))),
    ToolMessage("c1", "look", "a door"),
)


def connection(**more: Any) -> Connection:
    return Connection("https://corp.test/api/", "corp-1", "mapped:corp.test:corp-1", "secret", **more)


def asked(template: dict[str, Any] | None = None, to: Connection | None = None, **fields: Any) -> HttpCall:
    prompt = Prompt(fields.pop("system", ""), fields.pop("tools", ()), fields.pop("messages", TALK[:1]))
    given = {} if template is None else {"request": template}
    mapping = ProtocolMapping.model_validate({"call": "/call", "text": "t"} | given)
    return MappedDialect(mapping).request(ModelRequest("corp-1", prompt, **fields), to or connection())


def body(*args: Any, **fields: Any) -> Any:
    return msgspec.json.decode(asked(*args, **fields).body)


def test_the_stream_is_asked_where_there_is_one() -> None:
    both = ProtocolMapping.model_validate({"call": "/call", "stream": "/callStream", "text": "t"})
    call = MappedDialect(both).request(ModelRequest("corp-1", Prompt()), connection())
    assert (asked().url, call.url) == ("https://corp.test/api/call", "https://corp.test/api/callStream")
    assert dict(call.headers)["authorization"] == "Bearer secret"


def test_without_a_template_everything_goes_under_plain_names() -> None:
    fields: dict[str, Any] = {"user": "u", "assistant": "7", "thinking": "disabled", "temperature": 0.0}
    assert body(tools=(LOOK,), system="Be brief.", max_tokens=9, **fields) == {
        "model": "corp-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is\nthere?\n\nFile a.txt:\nA\n\nnoon"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
        ],
        "userId": "u",
        "assistantId": "7",
        "thinking": False,
        "temperature": 0.0,
        "maxTokens": 9,
    }


def test_what_has_no_value_is_left_out_with_its_key() -> None:
    template = {"m": "$model", "who": {"u": "$user"}, "list": ["$assistant", "x"], "opts": {"t": "$temperature"}}
    assert body(template | {"fixed": [1, None], "tools": "$tools"}) == {
        "m": "corp-1",
        "who": {},
        "list": ["x"],
        "opts": {},
        "fixed": [1, None],
    }


def test_a_system_prompt_with_a_place_of_its_own_is_no_message() -> None:
    written = body({"sys": "$system", "msgs": "$messages"}, system="Be brief.")
    assert written["sys"] == "Be brief."
    assert [each["role"] for each in written["msgs"]] == ["user"]


def test_calls_and_results_go_back_with_the_providers_ids() -> None:
    _, call, result = body({"msgs": "$messages"}, messages=TALK)["msgs"]
    assert call["tool_calls"][0] | {"id": "p1"} == call["tool_calls"][0]
    assert result == {"role": "tool", "tool_call_id": "p1", "content": "a door"}


def test_a_conversation_can_be_one_text_that_only_grows() -> None:
    first = body({"p": "$prompt"}, system="Be brief.")["p"]
    whole = body({"p": "$prompt"}, system="Be brief.", messages=TALK)["p"]
    assert first == "system: Be brief.\n\nuser: What is\nthere?\n\nFile a.txt:\nA\n\nnoon"
    assert whole == f'{first}\n\nassistant: I look.\n\nassistant calls look: {{"at": 1}}\n\ntool look: a door'


def test_the_newest_query_can_stand_alone() -> None:
    later = (*TALK, UserMessage((Text("And now?"), Image("image/png", "AA=="))))
    shown = "And now?\n\n[an image of type image/png that cannot be shown here]"
    assert body({"q": "$query"}, messages=later) == {"q": shown}


def test_messages_are_written_once_and_their_bytes_stay() -> None:
    dialect = MappedDialect(ProtocolMapping(call="/c", text="t", request={"m": "$messages"}))
    prompt = Prompt("", (), TALK[:1])
    first = dialect.request(ModelRequest("corp-1", prompt), connection()).body
    prompt.messages += TALK[1:]
    assert dialect.request(ModelRequest("corp-1", prompt), connection()).body.startswith(first[:-2])
    assert len(prompt.cache) == 1


def test_thinking_in_a_providers_own_words_comes_from_the_profile() -> None:
    told = connection(profile=Profile(thinking_on='{"mode":{"deep":true}}'))
    assert body({"q": "$query"}, told, thinking="enabled")["mode"] == {"deep": True}


def test_a_status_is_understood() -> None:
    error = MappedDialect(ProtocolMapping(call="/c", text="t")).failure(401, (), b"{}")
    assert error.fault is Fault.KEY


def configured(mapping: Any, **more: Any) -> Any:
    route = {"prefix": "corp", "dialect": "mapped", "baseUrl": "http://corp.test", "mapping": mapping} | more
    return make_routes(read_settings({"models": [route]}, {}).models)[0]


@pytest.mark.parametrize(
    ("mapping", "lacks"),
    [
        ({"toolCalls": "c"}, {"tools": True, "vision": True, "sampling": "always", "reasoning": "optional"}),
        ({}, {"tools": False}),
        ({"toolCalls": "c", "request": {"q": "$query", "t": "$tools"}}, {"tools": False, "vision": False}),
        ({"toolCalls": "c", "request": {"q": "$prompt", "t": "$tools"}}, {"tools": True, "sampling": "never"}),
        ({"request": {"q": "$prompt"}}, {"reasoning": "never", "json_schema": False, "forced_choice": "never"}),
    ],
    ids=str,
)
def test_what_a_request_has_no_place_for_is_a_capability_that_is_missing(mapping: Any, lacks: dict[str, Any]) -> None:
    profile = msgspec.structs.asdict(configured({"call": "/c", "text": "t"} | mapping).profile_of("corp-1"))
    assert profile | lacks == profile


def test_the_routes_own_capabilities_have_the_last_word() -> None:
    route = configured({"call": "/c", "text": "t"}, capabilities={"jsonSchema": True, "vision": False})
    assert (route.profile_of("corp-1").json_schema, route.profile_of("corp-1").vision) == (True, False)
    assert isinstance(make_dialect(route), MappedDialect)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"call": "/c", "txt": "a"}, r"models\[0\].mapping.txt: there is no such key; did you mean 'text'?"),
        ({"call": "/c"}, r"models\[0\].mapping.text: field required"),
        ({"text": "t"}, r"models\[0\].mapping: it has neither 'call' nor 'stream'"),
        ({"call": "c", "text": "t"}, r"models\[0\].mapping.call: string should match"),
        ({"call": "/c", "text": "a..b"}, r"models\[0\].mapping.text: no path; write names with dots"),
        ({"call": "/c", "text": "t", "usage": "a[x]"}, r"models\[0\].mapping.usage.path: no path"),
        ({"call": "/c", "text": "t", "toolCalls": {"path": "c", "nam": "n"}}, "mapping.toolCalls.nam: .*'name'"),
        ({"call": "/c", "text": "t", "request": {"a": ["$mesages"]}}, r"mapping.request: .*did you mean '\$messages'"),
        ({"call": "/c", "text": "t", "finishReasons": {"X": "stopp"}}, "mapping.finishReasons.X: input should be"),
        (None, r"models\[0\].mapping: the dialect 'mapped' needs one"),
    ],
    ids=str,
)
def test_a_wrong_mapping_is_an_error_at_the_start_and_names_the_key(mapping: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        configured(mapping)


def test_another_dialect_has_no_mapping() -> None:
    with pytest.raises(ConfigurationError, match=r"models\[0\].mapping: only the dialect 'mapped'"):
        configured({"call": "/c", "text": "t"}, dialect="openai")


@pytest.mark.parametrize("fence", DOCUMENTED, ids=[each.place for each in DOCUMENTED])
def test_the_routes_of_the_documents_are_right(fence: Fence) -> None:
    keys = {"OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k", "CORP_KEY": "k"}
    assert make_routes(read_settings(yaml.safe_load(fence.code), keys).models)
