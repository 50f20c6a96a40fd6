"""Approvals: asking, deciding, and what happens when nobody does."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.client import Client, Exchange, Reply
from tests.server.serving import Served, Shop, parked, plain, serving, shown
from tests.server.sse import Event

APPROVAL = "/ai-api/chat/approval"
CALL = Say("I refund it.", calls=(Call("refund", {"order_id": "42", "amount": 40}),))


def decide(client: Client, request_id: str, decision: str = "APPROVE", **fields: Any) -> Awaitable[Reply]:
    return client.post(APPROVAL, {"requestId": request_id, "decision": decision} | fields)


async def asked(stream: Exchange) -> str:
    """Read up to the question; return its id."""
    return str((await stream.until("approval_request")).data["data"])


async def flow(
    act: Callable[[Served, str], Awaitable[Any]], answer: str = "Done."
) -> tuple[Shop, list[Event], ScriptedModel]:
    """Run a turn that asks for approval, let `act` answer; return the shop, what came after the question, the model."""
    shop, model = Shop(), ScriptedModel(CALL, Say(answer))
    clock = FakeClock()
    async with serving(model, tools=shop.tools(), clock=clock) as served, served.client.chat(sessionId="s") as stream:
        await act(served, await asked(stream))
        events = await stream.rest()
    model.check()
    return shop, events, model


async def test_an_approved_call_runs_and_the_stream_goes_on() -> None:
    shop, events, _ = await flow(lambda served, id_: decide(served.client, id_))
    assert shop.refunds == [("42", 40)]
    assert shown(events) == snapshot(
        [
            {"type": "approval_resolved", "data": "ASK", "reason": "approved"},
            {"type": "tool_started", "toolCalls": [{"id": "scripted_1", "name": "refund"}], "step": 1},
            {
                "type": "tool_result",
                "toolResults": [{"id": "scripted_1", "name": "refund", "result": "refunded 40 of 42"}],
            },
            {"type": "token", "data": "Done."},
            {"type": "finish", "reason": "stop", "usage": {"inputTokens": 20, "outputTokens": 10}},
        ]
    )


async def test_edited_arguments_are_what_runs() -> None:
    shop, events, _ = await flow(
        lambda served, id_: decide(served.client, id_, arguments={"order_id": "42", "amount": 10}, comment="only 10")
    )
    assert shop.refunds == [("42", 10)]
    assert events[0].data["reason"] == "edited"


async def test_a_declined_call_does_not_run_and_the_model_is_told() -> None:
    shop, events, model = await flow(lambda served, id_: decide(served.client, id_, "DECLINE", comment="too much"))
    assert shop.refunds == []
    assert shown(events) == snapshot(
        [
            {"type": "approval_resolved", "data": "ASK", "reason": "declined"},
            {
                "type": "tool_result",
                "toolResults": [
                    {
                        "id": "scripted_1",
                        "name": "refund",
                        "result": "Not run: a person declined this call. They said: too much",
                        "isError": True,
                    }
                ],
            },
            {"type": "token", "data": "Done."},
            {"type": "finish", "reason": "stop", "usage": {"inputTokens": 20, "outputTokens": 10}},
        ]
    )
    assert "too much" in str(model.prompts[1][-1])


async def test_a_question_that_nobody_answers_expires() -> None:
    clock, shop = FakeClock(), Shop()
    model = ScriptedModel(CALL, Say("Too late."))
    async with serving(model, tools=shop.tools(), clock=clock) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        await parked(served, stream.headers["x-run-id"])
        clock.move(301)
        events = await stream.rest()
        late = await decide(served.client, id_)
    assert shop.refunds == []
    assert [events[0].data["reason"], events[-1].data["reason"]] == ["expired", "stop"]
    assert (late.status, late.json["decision"]) == (409, "expired")


async def test_a_decision_after_the_deadline_is_too_late_even_if_nobody_noticed_yet() -> None:
    clock, shop = FakeClock(), Shop()
    async with (
        serving(ScriptedModel(CALL, Say("Too late.")), tools=shop.tools(), clock=clock) as served,
        served.client.chat() as stream,
    ):
        id_ = await asked(stream)
        clock.pass_unnoticed(300)
        late = await decide(served.client, id_)
        await stream.rest()
    assert (late.status, late.json["decision"], shop.refunds) == (409, "expired", [])


@pytest.mark.parametrize("ticks", range(12))
async def test_at_the_moment_of_expiry_either_the_approval_or_the_deadline_wins_never_both(ticks: int) -> None:
    clock, shop = FakeClock(), Shop()
    model = ScriptedModel(CALL, Say("Done."))
    async with serving(model, tools=shop.tools(), clock=clock) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        deciding = asyncio.ensure_future(decide(served.client, id_))
        for _ in range(ticks):
            await asyncio.sleep(0)
        clock.move(300)
        events, reply = await stream.rest(), await deciding
    resolved = [event.data["reason"] for event in events if event.type == "approval_resolved"]
    assert resolved == [reply.json["decision"]]
    assert (reply.status, len(shop.refunds)) == ((200, 1) if resolved == ["approved"] else (409, 0))


async def test_a_heartbeat_follows_a_question_at_once() -> None:
    async with serving(ScriptedModel(CALL), tools=Shop().tools()) as served, served.client.chat() as stream:
        await asked(stream)
        event = await stream.any_event()
    assert event is not None
    assert (event.id, event.data) == (None, {"type": "heartbeat"})


async def test_open_questions_are_listed_with_the_run_and_in_the_session() -> None:
    async with serving(ScriptedModel(CALL), tools=Shop().tools()) as served:
        async with served.client.chat(sessionId="s", userId="ann") as stream:
            id_ = await asked(stream)
        await parked(served, stream.headers["x-run-id"])
        listed = (await served.client.get("/ai-api/approvals?userId=ann")).json
        others = (await served.client.get("/ai-api/approvals?userId=bob")).json
        run = (await served.client.get(f"/ai-api/runs/{stream.headers['x-run-id']}")).json
        session = (await served.client.get("/ai-api/sessions/s?userId=ann")).json
    assert plain(listed) == snapshot(
        {
            "approvals": [
                {
                    "requestId": "ASK",
                    "runId": "RUN",
                    "sessionId": "s",
                    "userId": "ann",
                    "toolCalls": [{"id": "scripted_1", "name": "refund", "arguments": '{"order_id":"42","amount":40}'}],
                    "reason": "declared",
                    "createdAt": "TIME",
                    "expiresAt": "TIME",
                }
            ]
        }
    )
    assert others == {"approvals": []}
    assert [each["requestId"] for each in run["approvals"]] == [id_]
    assert run["status"] == "waiting_approval"
    assert (session["approvals"], session["activeRun"]) == (listed["approvals"], stream.headers["x-run-id"])


# Who is first


async def test_the_same_decision_again_is_200_and_a_different_one_409_with_the_one_in_force() -> None:
    shop = Shop()
    async with serving(ScriptedModel(CALL, Say("Done.")), tools=shop.tools()) as served:
        async with served.client.chat() as stream:
            id_ = await asked(stream)
            first = await decide(served.client, id_)
            await stream.rest()
        again = await decide(served.client, id_)
        other = await decide(served.client, id_, "DECLINE")
        edited = await decide(served.client, id_, arguments={"order_id": "42", "amount": 1})
    assert (first.status, plain(first.json)) == (
        200,
        snapshot({"requestId": "ASK", "decision": "approved", "decidedAt": "TIME", "by": "anonymous"}),
    )
    assert (again.status, again.json) == (200, first.json)
    assert (other.status, plain(other.json)) == (
        409,
        snapshot(
            {
                "requestId": "ASK",
                "decision": "approved",
                "decidedAt": "TIME",
                "by": "anonymous",
                "type": "about:blank",
                "title": "Conflict",
                "status": 409,
                "detail": "this question was approved before; that decision is in force",
                "code": "conflict",
            }
        ),
    )
    assert edited.status == 409
    assert shop.refunds == [("42", 40)]


async def test_of_many_decisions_at_the_same_time_one_is_in_force_and_the_call_runs_at_most_once() -> None:
    shop = Shop()
    async with serving(ScriptedModel(CALL, Say("Done.")), tools=shop.tools()) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        kinds = ["APPROVE", "DECLINE"] * 10
        replies = await asyncio.gather(*(decide(served.client, id_, kind) for kind in kinds))
        events = await stream.rest()
    in_force = {reply.json["decision"] for reply in replies}
    assert len(in_force) == 1
    assert sorted(reply.status for reply in replies) == [200] * 10 + [409] * 10
    assert len(shop.refunds) == (1 if in_force == {"approved"} else 0)
    assert [event.type for event in events].count("approval_resolved") == 1


@pytest.mark.parametrize(
    "fields", [{"order_id": "42"}, {"order_id": "42", "amount": "much"}, {"order_id": "42", "x": 1}]
)
async def test_edited_arguments_are_validated_like_the_models_and_a_wrong_edit_decides_nothing(fields: Any) -> None:
    async with serving(ScriptedModel(CALL), tools=Shop().tools()) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        wrong = await decide(served.client, id_, arguments=fields)
        still = (await served.client.get("/ai-api/approvals")).json["approvals"]
    assert (wrong.status, wrong.json["code"]) == (422, "invalid_request")
    assert [each["requestId"] for each in still] == [id_]


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": "approve"},
        {"decision": "APPROVED"},
        {"decision": "YES"},
        {"decision": " APPROVE"},
        {"decision": True},
        {"decision": None},
        {"decision": ["APPROVE"]},
        {"decision": "APPROVE", "answer": "yes"},
        {"decision": "APPROVE", "remember": "forever"},
        {"decision": "APPROVE", "remember": True},
        {"decision": "APPROVE", "arguments": "{}"},
        {"decision": "APPROVE", "approve": True},
        {"decision": "DECLINE", "remember": "session"},
        {"decision": "DECLINE", "arguments": {"order_id": "42", "amount": 1}},
        {},
    ],
    ids=str,
)
async def test_anything_but_a_clear_decision_is_422_and_decides_nothing(fields: dict[str, Any]) -> None:
    async with serving(ScriptedModel(CALL), tools=Shop().tools()) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        reply = await served.client.post(APPROVAL, {"requestId": id_} | fields)
        open_ = (await served.client.get("/ai-api/approvals")).json["approvals"]
    assert (reply.status, len(open_)) == (422, 1)


async def test_an_unknown_question_and_one_of_somebody_else_are_404() -> None:
    async with serving(ScriptedModel(CALL), tools=Shop().tools()) as served, served.client.chat(userId="ann") as stream:
        id_ = await asked(stream)
        unknown = await decide(served.client, "ask_nothing")
        a_run = await decide(served.client, stream.headers["x-run-id"])
        others = await served.client.post(f"{APPROVAL}?userId=bob", {"requestId": id_, "decision": "APPROVE"})
    assert [unknown.status, a_run.status, others.status] == [404, 404, 404]
    assert others.json["detail"].replace(id_, "X") == unknown.json["detail"].replace("ask_nothing", "X")


async def test_remember_agrees_to_further_calls_of_the_tool_in_this_session() -> None:
    shop = Shop()
    model = ScriptedModel(CALL, Say("Done."), CALL, Say("Done again."))
    async with serving(model, tools=shop.tools()) as served:
        async with served.client.chat(sessionId="s") as stream:
            await decide(served.client, await asked(stream), remember="session")
            await stream.rest()
        events = await served.client.turn(sessionId="s")
    assert len(shop.refunds) == 2
    assert "approval_request" not in [event.type for event in events]


# Waiting


async def test_a_client_that_goes_away_decides_nothing_and_finds_the_result_later() -> None:
    shop = Shop()
    async with serving(ScriptedModel(CALL, Say("Done.")), tools=shop.tools()) as served:
        async with served.client.chat() as stream:
            id_ = await asked(stream)
        run_id, last = stream.headers["x-run-id"], stream.seen[-1].id
        await parked(served, run_id)
        assert served.runtime.parts.engine.running == 0
        assert (await decide(served.client, id_)).status == 200
        async with served.client.events(run_id, last) as back:
            events = await back.rest()
    assert shop.refunds == [("42", 40)]
    assert [event.type for event in events][-1] == "finish"


async def test_an_approval_given_after_a_restart_resumes_the_run_exactly_there(tmp_path: Path) -> None:
    shop, store = Shop(), {"url": f"sqlite:///{tmp_path}/t.db"}
    async with (
        serving(ScriptedModel(CALL), tools=shop.tools(), store=store) as served,
        served.client.chat(sessionId="s") as stream,
    ):
        id_ = await asked(stream)
        await parked(served, stream.headers["x-run-id"])
    run_id, last = stream.headers["x-run-id"], stream.seen[-1].id
    model = ScriptedModel(Say("Done."))
    async with serving(model, tools=shop.tools(), store=store) as served:
        run = (await served.client.get(f"/ai-api/runs/{run_id}")).json
        async with served.client.events(run_id, last) as back:
            assert (await decide(served.client, id_)).status == 200
            events = await back.rest()
    assert (run["status"], run["approvals"][0]["requestId"]) == ("waiting_approval", id_)
    assert shop.refunds == [("42", 40)]
    assert shown(events) == snapshot(
        [
            {"type": "approval_resolved", "data": "ASK", "reason": "approved"},
            {"type": "tool_started", "toolCalls": [{"id": "scripted_1", "name": "refund"}], "step": 1},
            {
                "type": "tool_result",
                "toolResults": [{"id": "scripted_1", "name": "refund", "result": "refunded 40 of 42"}],
            },
            {"type": "token", "data": "Done."},
            {"type": "finish", "reason": "stop", "usage": {"inputTokens": 20, "outputTokens": 10}},
        ]
    )
    model.check()


async def test_a_new_message_takes_the_place_of_a_run_that_waits() -> None:
    shop = Shop()
    model = ScriptedModel(CALL, Say("All right, no refund."))
    async with serving(model, tools=shop.tools()) as served, served.client.chat(sessionId="s") as first:
        id_ = await asked(first)
        await parked(served, first.headers["x-run-id"])
        second = await served.client.turn("Leave it.", sessionId="s")
        events = await first.rest()
        late = await decide(served.client, id_)
    assert shop.refunds == []
    assert [event.data.get("reason") for event in events if event.type != "tool_result"] == ["superseded", "cancelled"]
    assert second[-1].data["reason"] == "stop"
    assert (late.status, late.json["decision"]) == (409, "superseded")
    assert [type(message).__name__ for message in model.prompts[1]] == snapshot(
        ["UserMessage", "AssistantMessage", "ToolMessage", "UserMessage"]
    )


async def test_a_cancelled_run_closes_its_questions() -> None:
    shop = Shop()
    async with serving(ScriptedModel(CALL), tools=shop.tools()) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        await served.client.post("/ai-api/chat/cancel", {"runId": stream.headers["x-run-id"]})
        events = await stream.rest()
        late = await decide(served.client, id_)
    assert events[-1].data["reason"] == "cancelled"
    assert (late.status, late.json["decision"], shop.refunds) == (409, "cancelled", [])
