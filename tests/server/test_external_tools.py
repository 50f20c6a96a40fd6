"""Tools that a request brings: checked at the door, their keys never on record; client tools over HTTP."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria.server import answers
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.serving import parked, plain, serving
from tests.server.test_runs_and_sessions import exactly

RESULT = "/ai-api/chat/tool-result"
CHAT = "/ai-api/chat/stream"
LOCATE: dict[str, Any] = {
    "platform": "client",
    "name": "locate",
    "description": "Say where the user is.",
    "inputSchema": {"type": "object", "properties": {"precise": {"type": "boolean"}}},
}
ASK: dict[str, Any] = {
    "platform": "dify",
    "name": "ask",
    "baseUrl": "https://dify.example/v1",
    "apiKey": "app-secret-1",
}
POST: dict[str, Any] = {"platform": "http", "name": "post", "url": "https://api.example/x"}


async def test_a_call_is_handed_over_with_a_heartbeat_and_goes_on_with_its_result() -> None:
    model = ScriptedModel(Call("locate", {"precise": True}), Say("Paris."))
    async with serving(model) as served, served.client.chat(externalTools=[LOCATE]) as stream:
        event = await stream.until("tool_call")
        beat = await stream.any_event()
        body = {"requestId": event.data["data"], "result": {"city": "Paris"}}
        reply = await served.client.post(RESULT, body)
        again = await served.client.post(RESULT, body)
        other = await served.client.post(RESULT, body | {"result": "Rome"})
        events = await stream.rest()
    assert plain(event.data) == snapshot(
        {
            "type": "tool_call",
            "data": "ASK",
            "toolCalls": [{"id": "scripted_1", "name": "locate", "arguments": '{"precise":true}'}],
            "step": 1,
            "expiresAt": "TIME",
        }
    )
    assert beat is not None
    assert beat.data == {"type": "heartbeat"}
    assert plain(exactly(answers.DecisionInForce, reply.json)) == snapshot(
        {
            "requestId": "ASK",
            "decision": "answered",
            "decidedAt": "TIME",
            "by": "anonymous",
            "answer": '{"city":"Paris"}',
        }
    )
    assert (again.status, again.json) == (200, reply.json)
    assert (other.status, other.json["code"], other.json["answer"]) == (409, "conflict", '{"city":"Paris"}')
    assert [each.data["type"] for each in events] == snapshot(
        ["approval_resolved", "tool_started", "tool_result", "token", "finish"]
    )


async def test_a_client_that_lost_its_stream_finds_the_call_in_the_run() -> None:
    async with serving(ScriptedModel(Call("locate"))) as served, served.client.chat(externalTools=[LOCATE]) as stream:
        event = await stream.until("tool_call")
        run = stream.headers["x-run-id"]
        await parked(served, run)
        view = (await served.client.get(f"/ai-api/runs/{run}")).json
    exactly(answers.RunView, view)
    (asked,) = view["approvals"]
    assert (asked["requestId"], asked["reason"]) == (event.data["data"], "client")
    assert [each["name"] for each in asked["toolCalls"]] == ["locate"]


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"result": "x" * 1_000_001}, 422, "at most 1000000"),
        ({}, 422, "result: "),
        ({"result": "x", "isError": "yes"}, 422, "isError: "),
        ({"result": "x", "more": 1}, 422, "more: there is no such field"),
        ({"result": "x", "requestId": "ask_unknown"}, 404, "ask_unknown"),
        ({"result": "x", "requestId": ""}, 422, "requestId: "),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_is_no_result_is_refused_and_changes_nothing(fields: dict[str, Any], status: int, said: str) -> None:
    model = ScriptedModel(Call("locate"), Say("So."))
    async with serving(model) as served, served.client.chat(externalTools=[LOCATE]) as stream:
        id_ = (await stream.until("tool_call")).data["data"]
        reply = await served.client.post(RESULT, {"requestId": id_} | fields)
        assert (reply.status, said in reply.json["detail"]) == (status, True)
        assert (await served.client.post(RESULT, {"requestId": id_, "result": "x"})).status == 200


BAD: list[tuple[list[dict[str, Any]], str]] = [
    ([LOCATE | {"name": "a b"}], "externalTools[0].name"),
    ([LOCATE | {"name": "1st"}], "externalTools[0].name"),
    ([LOCATE | {"name": "x" * 65}], "externalTools[0].name"),
    ([LOCATE, POST, LOCATE | {"name": "LOCATE"}], "externalTools[2].name"),
    ([LOCATE | {"name": "Task"}], "externalTools[0].name"),
    ([LOCATE | {"name": "final_answer"}], "externalTools[0].name"),
    ([LOCATE | {"platform": "coze"}], "externalTools[0]"),
    ([{"name": "x"}], "externalTools[0]"),
    ([LOCATE | {"url": "https://x"}], "externalTools[0].url"),
    ([LOCATE | {"inputSchema": {"type": "string"}}], "externalTools[0].inputSchema"),
    ([LOCATE | {"inputSchema": {"type": "object", "properties": 7}}], "externalTools[0].inputSchema"),
    ([LOCATE | {"inputSchema": {"type": "object", "$ref": "http://127.0.0.1/x"}}], "externalTools[0].inputSchema"),
    ([LOCATE | {"inputSchema": {"type": "object", "title": "x" * 70_000}}], "externalTools[0].inputSchema"),
    ([ASK | {"apiKey": ""}], "externalTools[0].apiKey"),
    ([ASK | {"apiKey": "app\r\nHost: x"}], "externalTools[0].apiKey"),
    ([{key: value for key, value in ASK.items() if key != "apiKey"}], "externalTools[0].apiKey"),
    ([ASK | {"baseUrl": "file:///etc/passwd"}], "externalTools[0].baseUrl"),
    ([ASK | {"baseUrl": "https://me:pw@dify.example/v1"}], "externalTools[0].baseUrl"),
    ([ASK | {"app": "agent"}], "externalTools[0].app"),
    ([POST | {"method": "TRACE"}], "externalTools[0].method"),
    ([POST | {"headers": {"Host": "x"}}], "externalTools[0].headers"),
    ([POST | {"headers": {"X": "a\r\nY: b"}}], "externalTools[0].headers.X"),
    ([POST | {"headers": {"X-A": "1", "x-a": "2"}}], "externalTools[0].headers"),
    ([LOCATE | {"name": f"t{at}"} for at in range(65)], "externalTools"),
]


@pytest.mark.parametrize(("brought", "field"), BAD, ids=[f"{at} {field}" for at, (_, field) in enumerate(BAD)])
async def test_a_tool_that_cannot_be_offered_is_422_and_its_field_is_named(
    brought: list[dict[str, Any]], field: str
) -> None:
    async with serving(ScriptedModel()) as served:
        reply = await served.client.post(CHAT, {"query": "Hi", "externalTools": brought})
        assert (reply.status, reply.json["code"]) == (422, "invalid_request")
        assert field in [each["field"] for each in reply.json["errors"]]
        assert "app-secret-1" not in json.dumps(reply.json)


async def test_a_key_under_a_name_of_the_tools_own_secrets_is_422() -> None:
    async with serving(ScriptedModel()) as served:
        body = {"query": "Hi", "toolContext": {"externalTools.ask.apiKey": "mine"}}
        assert (await served.client.post(CHAT, body)).status == 422


async def test_the_same_request_again_is_the_same_run_whatever_its_keys_and_another_tool_makes_it_another() -> None:
    async with serving(ScriptedModel(Say("Hi."), Say("Hi."))) as served:
        body = {"query": "Hi", "idempotencyKey": "once", "externalTools": [ASK]}
        first = await served.client.post(CHAT, body)
        again = await served.client.post(CHAT, body | {"externalTools": [ASK | {"apiKey": "app-secret-2"}]})
        other = await served.client.post(CHAT, body | {"externalTools": [ASK | {"name": "other"}]})
    assert again.headers["x-run-id"] == first.headers["x-run-id"]
    assert other.status == 409
