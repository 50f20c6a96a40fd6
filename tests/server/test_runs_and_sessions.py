"""Runs and sessions: shown, listed, deleted; those of others do not exist."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel

from talaria.core.principal import Principal
from talaria.server import answers
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.serving import Shop, parked, plain, serving
from tests.server.sse import text_of


def exactly(model: type[BaseModel], value: Any) -> Any:
    """The value, after it was checked that the documented model knows every field of it."""
    known = model.model_validate(value, extra="forbid").model_dump(by_alias=True, exclude_unset=True)
    assert known == value
    return plain(value)


async def test_a_run_says_how_it_stands() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("one", gate=gate))) as served, served.client.chat(sessionId="s") as stream:
        await stream.until("run_started")
        path = f"/ai-api/runs/{stream.headers['x-run-id']}"
        async with served.client.chat(sessionId="s", onDisconnect="cancel") as second:
            await second.until("queued")
            queued = (await served.client.get(f"/ai-api/runs/{second.headers['x-run-id']}")).json
        running = (await served.client.get(path)).json
        gate.set()
        await stream.rest()
        finished = (await served.client.get(path)).json
    assert [exactly(answers.RunView, view) for view in (queued, running, finished)] == snapshot(
        [
            {"runId": "RUN", "sessionId": "s", "status": "queued"},
            {
                "runId": "RUN",
                "sessionId": "s",
                "status": "running",
                "agent": "assistant",
                "modelName": "",
                "startedAt": "TIME",
            },
            {
                "runId": "RUN",
                "sessionId": "s",
                "status": "finished",
                "agent": "assistant",
                "modelName": "",
                "startedAt": "TIME",
                "finishedAt": "TIME",
                "reason": "stop",
            },
        ]
    )


async def test_a_session_shows_its_messages() -> None:
    model = ScriptedModel(
        Say("Let me see.", "Hm.", calls=(Call("look_up", {"order_id": "42"}),)), Say("40 EUR."), Say("You are welcome.")
    )
    async with serving(model, tools=Shop().tools()) as served:
        await served.client.turn("What about\norder 42?", sessionId="s", assistantId=7)
        await served.client.turn("Thanks.", sessionId="s", assistantId=7)
        view = (await served.client.get("/ai-api/sessions/s")).json
    assert exactly(answers.SessionView, view) == snapshot(
        {
            "sessionId": "s",
            "userId": "anonymous",
            "title": "What about order 42?",
            "turns": 2,
            "assistantId": "7",
            "createdAt": "TIME",
            "updatedAt": "TIME",
            "messages": [
                {
                    "role": "user",
                    "content": """\
What about
order 42?\
""",
                },
                {
                    "role": "assistant",
                    "content": "Let me see.",
                    "reasoning": "Hm.",
                    "toolCalls": [{"id": "scripted_1", "name": "look_up", "arguments": '{"order_id":"42"}'}],
                },
                {"role": "tool", "toolCallId": "scripted_1", "name": "look_up", "content": "order 42: 40 EUR"},
                {"role": "assistant", "content": "40 EUR."},
                {"role": "user", "content": "Thanks."},
                {"role": "assistant", "content": "You are welcome."},
            ],
        }
    )


async def test_a_waiting_session_shows_its_question() -> None:
    model = ScriptedModel(Call("refund", {"order_id": "42", "amount": 1}))
    async with serving(model, tools=Shop().tools()) as served, served.client.chat(sessionId="s") as stream:
        await stream.until("approval_request")
        await parked(served, stream.headers["x-run-id"])
        exactly(answers.SessionView, (await served.client.get("/ai-api/sessions/s")).json)
        exactly(answers.ApprovalList, (await served.client.get("/ai-api/approvals")).json)
        run = exactly(answers.RunView, (await served.client.get(f"/ai-api/runs/{stream.headers['x-run-id']}")).json)
    assert run["status"] == "waiting_approval"


async def test_sessions_are_listed_newest_first_in_pages() -> None:
    clock = FakeClock()
    async with serving(ScriptedModel(script=lambda _: Say("ok")), clock=clock) as served:
        for number in range(5):
            clock.move(1)
            await served.client.turn(f"Number {number}", sessionId=f"s{number}")
        pages: list[list[str]] = []
        path = "/ai-api/sessions?limit=2"
        cursor = ""
        while True:
            page = (await served.client.get(path + cursor)).json
            exactly(answers.SessionPage, page)
            pages.append([each["title"] for each in page["sessions"]])
            if "next" not in page:
                break
            cursor = f"&cursor={page['next']}"
    assert pages == [["Number 4", "Number 3"], ["Number 2", "Number 1"], ["Number 0"]]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=x", "limit=%C2%B2", "limit=0000000019999999", "cursor=x", "cursor=%C2%B2~x"],
)
async def test_a_wrong_page_is_422(query: str) -> None:
    async with serving(ScriptedModel()) as served:
        reply = await served.client.get(f"/ai-api/sessions?{query}")
    assert (reply.status, reply.json["code"]) == (422, "invalid_request")


async def test_a_deleted_session_is_gone_with_its_runs() -> None:
    async with serving(ScriptedModel(Say("one"), Say("two"))) as served:
        async with served.client.chat(sessionId="s") as stream:
            await stream.rest()
        deleted = await served.client.delete("/ai-api/sessions/s")
        gone = [
            (await served.client.get(path)).status
            for path in ("/ai-api/sessions/s", f"/ai-api/runs/{stream.headers['x-run-id']}")
        ]
        listed = (await served.client.get("/ai-api/sessions")).json
        again = await served.client.delete("/ai-api/sessions/s")
        assert text_of(await served.client.turn(sessionId="s")) == "two"
    assert (deleted.status, deleted.body, gone, listed, again.status) == (204, b"", [404, 404], {"sessions": []}, 404)


async def test_deleting_a_session_ends_what_runs_in_it() -> None:
    async with (
        serving(ScriptedModel(Say("One two", chunk=4, gate=asyncio.Event()))) as served,
        served.client.chat(sessionId="s") as stream,
    ):
        await stream.until("token")
        deleted = await served.client.delete("/ai-api/sessions/s")
        events = await stream.rest()
    assert deleted.status == 204
    assert events[-1].data["reason"] == "cancelled"
    assert served.model.closed_early == 1


async def test_one_id_under_two_assistants_is_two_sessions() -> None:
    async with serving(ScriptedModel(Say("one"), Say("two"))) as served:
        await served.client.turn(sessionId="s", assistantId="a", userId="ann")
        await served.client.turn(sessionId="s", assistantId="b", userId="ann")
        either = await served.client.get("/ai-api/sessions/s?userId=ann")
        one = await served.client.get("/ai-api/sessions/s?userId=ann&assistantId=b")
        none = await served.client.get("/ai-api/sessions/s?userId=ann&assistantId=")
    assert (either.status, one.status, none.status) == (422, 200, 404)
    assert one.json["messages"][-1]["content"] == "two"


async def test_what_belongs_to_another_user_or_tenant_is_404() -> None:
    model = ScriptedModel(Call("refund", {"order_id": "42", "amount": 1}))
    async with serving(model, tools=Shop().tools()) as served:
        async with served.client.chat(sessionId="s", userId="ann") as stream:
            await stream.until("approval_request")
        run_id = stream.headers["x-run-id"]
        paths = [f"/ai-api/runs/{run_id}", f"/ai-api/runs/{run_id}/events", "/ai-api/sessions/s"]
        for path in paths[::2]:
            assert (await served.client.get(f"{path}?userId=ann")).status == 200
        for path in paths:
            reply = await served.client.get(f"{path}?userId=bob")
            assert (reply.status, reply.json["code"]) == (404, "not_found")
        assert (await served.client.delete("/ai-api/sessions/s?userId=bob")).status == 404
        cancel = await served.client.post("/ai-api/chat/cancel?userId=bob", {"runId": run_id})
        assert cancel.status == 404
        assert (await served.client.get("/ai-api/sessions?userId=bob")).json == {"sessions": []}
        assert await served.runtime.parts.lookup.approvals(Principal("other", everyone=True)) == []


async def test_sessions_are_searched() -> None:
    async with serving(ScriptedModel(script=lambda _: Say("ok"))) as served:
        for number in range(4):
            await served.client.turn(f"Number {number} {'even' if number % 2 == 0 else 'odd'}", sessionId=f"s{number}")
        first = (await served.client.get("/ai-api/sessions?search=number%20ODD&limit=1")).json
        second = (await served.client.get(f"/ai-api/sessions?search=number%20ODD&limit=1&cursor={first['next']}")).json
        long = await served.client.get(f"/ai-api/sessions?search={'x' * 201}")
    assert sorted(each["sessionId"] for page in (first, second) for each in page["sessions"]) == ["s1", "s3"]
    assert (long.status, long.json["errors"][0]["field"]) == (422, "search")
