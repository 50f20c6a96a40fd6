"""Clients that go away, and runs that are cancelled."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import tool
from talaria.testing.model_server import ModelServer
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.testing.steps import Step
from tests.polling import eventually
from tests.server.serving import Served, serving, shown, status
from tests.server.sse import text_of


async def test_by_default_a_run_goes_on_and_its_client_comes_back() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("One two", chunk=4, gate=gate))) as served:
        async with served.client.chat() as stream:
            await stream.until("token")
        gate.set()
        async with served.client.events(stream.headers["x-run-id"], stream.seen[-1].id) as back:
            rest = await back.rest()
    assert text_of([*stream.seen, *rest]) == "One two"
    assert rest[-1].data["reason"] == "stop"


@pytest.mark.parametrize("moment", ["run_started", "token"])
async def test_a_client_that_cancels_by_leaving_ends_its_run_and_closes_the_model_s_connection(moment: str) -> None:
    say = Say("One two", chunk=4 if moment == "token" else 0, gate=asyncio.Event())
    async with serving(ScriptedModel(say)) as served:
        async with served.client.chat(onDisconnect="cancel", sessionId="s") as stream:
            await stream.until(moment)
        await served.model.wait_until(lambda: served.model.closed_early == 1, limit=2)
        await status(served, stream.headers["x-run-id"], "finished")
        async with served.client.events(stream.headers["x-run-id"]) as replay:
            events = await replay.rest()
        session = (await served.client.get("/ai-api/sessions/s")).json
    assert [event.type for event in events].count("finish") == 1
    assert events[-1].data["reason"] == "cancelled"
    assert session["messages"][1:] == (
        [{"role": "assistant", "content": "One ", "incomplete": True}] if moment == "token" else []
    )


async def test_a_client_that_leaves_while_a_tool_runs_cancels_the_tool() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    @tool
    async def slow() -> str:
        """Take long."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "done"

    async with serving(ScriptedModel(Call("slow")), tools=[slow]) as served:
        async with served.client.chat(onDisconnect="cancel", sessionId="s") as stream:
            await asyncio.wait_for(began.wait(), 5)
        await asyncio.wait_for(ended.wait(), 2)
        await status(served, stream.headers["x-run-id"], "finished")
        messages = (await served.client.get("/ai-api/sessions/s")).json["messages"]
    assert messages[1:] == snapshot(
        [
            {
                "role": "assistant",
                "content": "",
                "toolCalls": [{"id": "scripted_1", "name": "slow", "arguments": "{}"}],
            },
            {
                "role": "tool",
                "toolCallId": "scripted_1",
                "name": "slow",
                "content": "Cancelled while it ran; it is not known whether it took effect.",
                "isError": True,
            },
        ]
    )


@pytest.mark.parametrize("pace", [0.0, 0.05], ids=["silent", "speaking"])
async def test_the_providers_socket_is_closed_within_two_seconds(pace: float) -> None:
    step = Step(text="One two three " * 100, delay=0.0 if pace else 30.0, pace=pace)
    async with ModelServer([step]) as provider:
        config: dict[str, Any] = {
            "models": [{"prefix": "", "baseUrl": provider.base_url, "apiKey": "k"}],
            "defaultModel": "m",
        }
        async with serving(None, **config) as served:
            async with served.client.chat(onDisconnect="cancel") as stream:
                await provider.wait_until(lambda: bool(provider.requests))
                await stream.until("token" if pace else "run_started")
            if pace:
                await provider.wait_until(lambda: provider.closed_early == 1, limit=2)
            await status(served, stream.headers["x-run-id"], "finished")


async def test_everything_that_a_cancelled_run_held_is_free_again() -> None:
    async with serving(ScriptedModel(script=lambda _: Say("x", gate=asyncio.Event()))) as served:
        await one_cancelled(served)
        before = tasks()
        for _ in range(5):
            await one_cancelled(served)

        async def same() -> bool:
            return tasks() == before and len(served.app.streams) == 0 and served.runtime.parts.engine.running == 0

        await eventually(same, "going back to the tasks there were before")


async def one_cancelled(served: Served) -> None:
    async with served.client.chat(onDisconnect="cancel") as stream:
        await stream.until("run_started")
    await status(served, stream.headers["x-run-id"], "finished")


def tasks() -> int:
    return len([task for task in asyncio.all_tasks() if not task.done()])


async def test_cancel_ends_the_stream_with_finish_cancelled_and_again_changes_nothing() -> None:
    async with serving(ScriptedModel(Say("One two", chunk=4, gate=asyncio.Event()))) as served:
        async with served.client.chat(sessionId="s") as stream:
            await stream.until("token")
            run_id = stream.headers["x-run-id"]
            first = await served.client.post("/ai-api/chat/cancel", {"runId": run_id})
            events = await stream.rest()
        second = await served.client.post("/ai-api/chat/cancel", {"runId": run_id})
    assert (first.status, first.json) == (200, {"runId": run_id, "status": "cancelling"})
    assert (second.status, second.json) == (200, {"runId": run_id, "status": "finished"})
    (last,) = shown(events)
    usage = last.pop("usage")
    assert last == {"type": "finish", "reason": "cancelled"}
    assert (usage["outputTokens"], usage["estimated"], usage["inputTokens"] > 0) == (1, True, True)  # not for nothing


async def test_a_run_that_waits_in_line_can_be_cancelled() -> None:
    gate = asyncio.Event()
    async with serving(ScriptedModel(Say("one", gate=gate))) as served, served.client.chat("A", sessionId="s") as first:
        await first.until("run_started")
        async with served.client.chat("B", sessionId="s") as second:
            await second.until("queued")
            await served.client.post("/ai-api/chat/cancel", {"runId": second.headers["x-run-id"]})
            gate.set()
            await first.rest()
            events = await second.rest()
    assert events[-1].data["reason"] == "cancelled"


async def test_an_unknown_run_cannot_be_cancelled() -> None:
    async with serving(ScriptedModel()) as served:
        reply = await served.client.post("/ai-api/chat/cancel", {"runId": "run_x"})
        wrong = await served.client.post("/ai-api/chat/cancel", {"run": "run_x"})
    assert (reply.status, reply.json["code"]) == (404, "not_found")
    assert [each["field"] for each in wrong.json["errors"]] == ["runId", "run"]
