"""The Messages dialect behind the gateway: earlier thinking that is refused, and changes of model."""

import json
from typing import Any

from talaria.core.messages import AssistantMessage, Message, ToolMessage
from talaria.models.families import Profiles
from talaria.models.gateway import Gateway
from talaria.models.routes import Route
from talaria.ports.model import Answer, Downgraded, ModelRequest, Prompt, Restart
from tests.models.anthropic_requests import GO, SCHEMA, SEARCH
from tests.models.fakes import Canned, CannedTransport, NotingClock, collect
from tests.models.field_cases import messages_streams
from tests.models.test_anthropic_streams import BOUND
from tests.models.test_gateway import HELLO

STREAMS = {stream.name: stream.body for stream in messages_streams()}
REFUSED = Canned(
    [json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": BOUND}}).encode()], 400
)
CLAUDE = Route("claude", "http://claude.test", "anthropic", ("key",), profile_of=Profiles("anthropic").of)
GPT = Route("gpt", "http://gpt.test", "openai", ("key",), profile_of=Profiles("openai").of)


def canned(name: str) -> Canned:
    return Canned([STREAMS[name]])


class Scene:
    def __init__(self, *replies: Canned) -> None:
        self.transport = CannedTransport(replies)
        self.gateway = Gateway((CLAUDE, GPT), self.transport, NotingClock())

    async def said(self, request: ModelRequest) -> list[Any]:
        items = await collect(self.gateway.stream(request))
        return [item for item in items if isinstance(item, Restart | Answer | Downgraded)]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(call.body) for call in self.transport.calls]


async def history(model: str) -> list[Message]:
    """A conversation with an answer that thought and called, and the results."""
    request = ModelRequest(model, Prompt("", [SEARCH], [GO]))
    answer = (await Scene(canned("thinking_text_calls")).said(request))[-1]
    results = [ToolMessage(call.id, call.name, "r") for call in answer.message.calls]
    return [GO, answer.message, *results]


async def test_thinking_that_is_bound_elsewhere_is_left_out_once_and_that_is_told() -> None:
    scene = Scene(REFUSED, canned("text"))
    request = ModelRequest("claude-opus-5-5", Prompt("changed", [SEARCH], await history("claude-opus-5-5")))
    restart, answer = await scene.said(request)
    assert (type(restart), answer.reasoning_refused) == (Restart, True)
    first, second = scene.bodies
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "SIG1"}
    assert first["messages"][1]["content"][0] == thought
    kinds = [block["type"] for message in second["messages"] for block in message["content"]]
    assert kinds == ["text", "text", "tool_use", "tool_use", "tool_result", "tool_result"]


async def test_thinking_of_one_model_does_not_go_to_another() -> None:
    said = await history("claude-opus-5")
    for model in ("claude-opus-5-5", "gpt-4o"):
        scene = Scene(canned("text") if model.startswith("claude") else HELLO)
        await scene.said(ModelRequest(model, Prompt("", [SEARCH], said)))
        assert b"SIG1" not in scene.transport.calls[0].body
    scene = Scene(canned("text"))
    await scene.said(ModelRequest("claude-opus-5", Prompt("", [SEARCH], said)))
    assert b"SIG1" in scene.transport.calls[0].body


async def test_what_is_appended_is_all_that_changes_between_two_requests() -> None:
    prompt = Prompt("Be brief.", [SEARCH], [GO])
    scene = Scene(canned("thinking_text_calls"), canned("text"))
    answer = (await scene.said(ModelRequest("claude-opus-5-5", prompt, "enabled")))[-1]
    prompt.messages += [answer.message, *(ToolMessage(call.id, call.name, "r") for call in answer.message.calls)]
    await scene.said(ModelRequest("claude-opus-5-5", prompt, "enabled"))
    first, second = scene.bodies
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert {**second, "messages": 0} == {**first, "messages": 0}


async def test_every_thing_done_without_is_told_and_a_schema_stays() -> None:
    scene = Scene(canned("text"))
    request = ModelRequest(
        "claude-opus-5-5", Prompt("", [SEARCH], [GO]), "disabled", 0.2, None, "required", output_schema=SCHEMA
    )
    downgraded = [item.reason for item in await scene.said(request) if isinstance(item, Downgraded)]
    assert [word for word in ("think", "temperature", "tool") if any(word in said for said in downgraded)] == [
        *("think", "temperature", "tool")
    ]
    sent = scene.bodies[0]
    assert not {"tool_choice", "temperature", "thinking"} & set(sent)
    assert (sent["output_config"]["effort"], sent["output_config"]["format"]["type"]) == ("low", "json_schema")


async def test_a_message_that_a_cut_stream_left_goes_back_without_thinking() -> None:
    request = ModelRequest("claude-opus-5", Prompt("", (), [GO]))
    answer = (await Scene(canned("max_tokens_in_thinking")).said(request))[-1]
    assert isinstance(answer.message, AssistantMessage)
    scene = Scene(canned("text"))
    await scene.said(ModelRequest("claude-opus-5", Prompt("", (), [GO, answer.message, GO])))
    assert [message["role"] for message in scene.bodies[0]["messages"]] == ["user"]
