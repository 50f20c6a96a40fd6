"""POST /ai-api/chat/stream: one turn, streamed."""

import asyncio

import pytest
from inline_snapshot import snapshot

from talaria.core.errors import ModelRejected, ModelUnavailable
from talaria.testing.scripted_model import Call, Cut, Fail, Say, ScriptedModel
from tests.server.serving import Shop, plain, serving, shown
from tests.server.sse import text_of


async def test_a_turn_is_streamed_from_run_started_to_finish() -> None:
    async with (
        serving(ScriptedModel(Say("Hello, you.", reasoning="They greet.", chunk=6))) as served,
        served.client.chat(sessionId="s-1", modelName="some-model") as stream,
    ):
        head = {name: plain(value) for name, value in stream.headers.items()}
        events = await stream.rest()
    assert stream.status == 200
    assert head == snapshot(
        {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",
            "x-run-id": "RUN",
            "x-session-id": "s-1",
        }
    )
    assert shown(events) == snapshot(
        [
            {"type": "run_started", "data": "RUN", "sessionId": "s-1", "modelName": "some-model"},
            {"type": "reasoning", "data": "They g"},
            {"type": "reasoning", "data": "reet."},
            {"type": "token", "data": "Hello,"},
            {"type": "token", "data": " you."},
            {"type": "finish", "reason": "stop", "usage": {"inputTokens": 10, "outputTokens": 5}},
        ]
    )


async def test_every_event_of_a_run_has_an_id_of_that_run_and_no_two_are_equal() -> None:
    async with serving(ScriptedModel(Say("Hello, you.", chunk=3))) as served, served.client.chat() as stream:
        events = await stream.rest()
    ids = [event.id for event in events]
    assert len(set(ids)) == len(ids)
    assert {str(id_).rpartition("/")[0] for id_ in ids} == {stream.headers["x-run-id"]}


async def test_calls_and_their_results_are_told_as_they_happen() -> None:
    model = ScriptedModel(Say("Let me see.", calls=(Call("look_up", {"order_id": "42"}),)), Say("It is 40 EUR."))
    async with serving(model, tools=Shop().tools()) as served:
        events = await served.client.turn("What about order 42?")
    assert shown(events) == snapshot(
        [
            {"type": "run_started", "data": "RUN", "sessionId": "SES", "modelName": ""},
            {"type": "token", "data": "Let me see."},
            {
                "type": "tool_call",
                "toolCalls": [{"id": "scripted_1", "name": "look_up", "arguments": '{"order_id":"42"}'}],
                "step": 1,
            },
            {"type": "tool_started", "toolCalls": [{"id": "scripted_1", "name": "look_up"}], "step": 1},
            {
                "type": "tool_result",
                "toolResults": [{"id": "scripted_1", "name": "look_up", "result": "order 42: 40 EUR"}],
            },
            {"type": "token", "data": "It is 40 EUR."},
            {"type": "finish", "reason": "stop", "usage": {"inputTokens": 20, "outputTokens": 10}},
        ]
    )


async def test_the_first_bytes_come_before_the_model_says_anything() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("late", gate=gate))
    async with serving(model) as served, served.client.chat() as stream:
        assert await stream.bytes() == b": stream\n\n"
        started = await stream.event()
        assert started is not None
        assert started.type == "run_started"
        gate.set()
        assert text_of(await stream.rest()) == "late"


async def test_a_second_turn_knows_the_first() -> None:
    model = ScriptedModel(Say("Nice to meet you, Ann."), Say("Ann."))
    async with serving(model) as served:
        await served.client.turn("I am Ann.", sessionId="s")
        await served.client.turn("Who am I?", sessionId="s")
    assert [getattr(message, "text", "I said") for message in model.prompts[1]] == [
        "I said",
        "Nice to meet you, Ann.",
        "I said",
    ]


async def test_without_server_memory_history_comes_from_the_request_and_later_turns_do_not_see_it() -> None:
    model = ScriptedModel(Say("Ann."), Say("I do not know."))
    history = [{"role": 1, "content": "I am Ann."}, {"role": "assistant", "content": "Hello Ann."}]
    async with serving(model) as served:
        await served.client.turn("Who am I?", sessionId="s", useServerMemory=False, history=history)
        await served.client.turn("Who am I?", sessionId="s")
    assert [len(prompt) for prompt in model.prompts] == [3, 1]


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Fail(ModelUnavailable("the model cannot be reached")), "model_unavailable"),
        (Fail(ModelRejected("the provider refused", operator="key sk-1 is blocked")), "model_rejected"),
        (Cut("Hel"), "stream_truncated"),
    ],
)
async def test_a_model_that_fails_ends_the_stream_with_one_error(step: Fail | Cut, code: str) -> None:
    async with serving(ScriptedModel(step)) as served:
        events = await served.client.turn()
    assert [event.type for event in events if event.type in ("finish", "error")] == ["error"]
    assert events[-1].data["reason"] == code
    assert "sk-1" not in str(shown(events))


async def test_a_run_that_waits_for_a_place_says_where_it_stands() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(script=lambda request: Say("done", gate=gate))
    server = {"maxRuns": 1, "queue": 1}
    async with serving(model, server=server) as served, served.client.chat(sessionId="a") as first:
        await first.until("run_started")
        async with served.client.chat(sessionId="b") as second:
            assert shown([await second.until("queued")]) == snapshot([{"type": "queued", "data": 1}])
            full = await served.client.post("/ai-api/chat/stream", {"query": "Hello"})
            gate.set()
            assert (await second.rest())[-1].type == "finish"
    assert (full.status, full.headers["retry-after"]) == (503, "2")
    assert full.json == snapshot(
        {
            "type": "about:blank",
            "title": "Service Unavailable",
            "status": 503,
            "detail": "all places to run and to wait are taken; try again later",
            "code": "overloaded",
        }
    )
