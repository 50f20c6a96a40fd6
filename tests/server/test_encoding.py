"""What models say cannot break the stream: each delta is one line of JSON that a parser by the book reads back."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from talaria.core.messages import AssistantMessage, Text
from talaria.core.usage import Usage
from talaria.ports.model import Answer, ModelItem, ModelRequest, TextDelta
from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.testing.steps import Step
from tests.server.serving import Shop, serving
from tests.server.sse import parse, text_of

DELTAS = (
    'a\n\ndata: {"type":"completed"}\n\n',
    "x\revent: error\r",
    "line1\r\nline2",
    "\u2028\u2029\u0085",
    "\N{GRINNING FACE}",
    ": comment",
    "id: 1\n",
)


class Deltas:
    """A model that says exactly these deltas."""

    def __init__(self, deltas: Sequence[str]) -> None:
        self.deltas = deltas

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[ModelItem], None]:
        assert request.prompt.messages
        for delta in self.deltas:
            yield [TextDelta(delta)]
        yield [Answer(AssistantMessage((Text("".join(self.deltas)),), "m"), "stop", Usage())]


async def said(deltas: Sequence[str]) -> tuple[bytes, list[str]]:
    async with serving(Deltas(deltas)) as served:
        body = (await served.client.post("/ai-api/chat/stream", {"query": "x"})).body
    return body, [event.data["data"] for event in parse(body) if event.type == "token"]


async def test_every_delta_is_one_event_and_comes_back_as_it_was() -> None:
    body, tokens = await said(DELTAS)
    assert tokens == list(DELTAS)
    assert len(parse(body)) == len(DELTAS) + 2
    assert [line for line in body.splitlines() if not line.startswith((b"id: run_", b"data: {", b": stream"))] == [
        b""
    ] * (body.count(b"\n\n"))


async def test_line_separators_are_written_as_escapes() -> None:
    body, _ = await said(["a\u2028b\u2029c\u0085d"])
    assert rb"a\u2028b\u2029c\u0085d" in body


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1), max_size=8))
def test_any_text_comes_back_as_it_was(deltas: list[str]) -> None:
    _, tokens = asyncio.run(said(deltas))
    assert tokens == deltas


async def test_what_no_store_can_hold_is_replaced_on_its_way_from_the_provider() -> None:
    chunk = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s}]}'
    deltas = [
        '{"content":"a\\u0000"}',
        '{"content":""}',
        '{"content":"\\ud83d"}',
        '{"content":"\\ude00\\ud83d"}',
        '{"content":"b"}',
    ]
    raw = [f"data: {chunk % delta}\n\n" for delta in deltas]
    raw += ['data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', "data: [DONE]\n\n"]
    async with ModelServer([Step(raw=tuple(raw))]) as provider:
        config: dict[str, Any] = {
            "models": [{"prefix": "", "baseUrl": provider.base_url, "apiKey": "k"}],
            "defaultModel": "m",
        }
        async with serving(None, **config) as served:
            events = await served.client.turn()
    assert text_of(events) == "a\ufffd\N{GRINNING FACE}\ufffdb"
    assert "" not in [event.data["data"] for event in events if event.type == "token"]


async def test_names_that_a_model_makes_up_stay_inside_the_json() -> None:
    name = "tool\ndata: x\n\nid: 1"
    model = ScriptedModel(Call(name), Say("ok"))
    async with serving(model, tools=Shop().tools()) as served:
        events = await served.client.turn()
    call = next(event for event in events if event.type == "tool_call")
    assert call.data["toolCalls"][0]["name"] == name
    assert events[-1].type == "finish"
