"""AskUser over HTTP: the `question` event, its place in listings, answers, and what is none."""

from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent
from talaria.server import answers
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.client import Exchange
from tests.server.serving import Shop, parked, plain, serving, shown
from tests.server.test_runs_and_sessions import exactly

APPROVAL = "/ai-api/chat/approval"
ASKER = Agent("asker", tools=["AskUser"])
CALL = Call("AskUser", {"question": "Which colour?", "choices": ["red", "blue"]})


async def asked(stream: Exchange) -> str:
    return str((await stream.until("question")).data["data"])


async def test_a_question_is_answered_and_the_stream_goes_on() -> None:
    async with (
        serving(ScriptedModel(CALL, Say("Blue it is.")), agents=[ASKER]) as served,
        served.client.chat() as stream,
    ):
        question = await stream.until("question")
        beat = await stream.any_event()
        body = {"requestId": question.data["data"], "decision": "APPROVE", "answer": "blue"}
        reply = await served.client.post(APPROVAL, body)
        again = await served.client.post(APPROVAL, body)
        other = await served.client.post(APPROVAL, body | {"answer": "red"})
        events = await stream.rest()
    assert plain(question.data) == snapshot(
        {
            "type": "question",
            "data": "ASK",
            "question": "Which colour?",
            "choices": ["red", "blue"],
            "expiresAt": "TIME",
        }
    )
    assert beat is not None
    assert (beat.id, beat.data) == (None, {"type": "heartbeat"})
    assert plain(exactly(answers.DecisionInForce, reply.json)) == snapshot(
        {"requestId": "ASK", "decision": "answered", "decidedAt": "TIME", "by": "anonymous", "answer": "blue"}
    )
    assert (again.status, again.json) == (200, reply.json)
    assert (other.status, other.json["decision"], other.json["answer"]) == (409, "answered", "blue")
    assert shown(events) == snapshot(
        [
            {"type": "approval_resolved", "data": "ASK", "reason": "answered"},
            {"type": "tool_started", "toolCalls": [{"id": "scripted_1", "name": "AskUser"}], "step": 1},
            {
                "type": "tool_result",
                "toolResults": [{"id": "scripted_1", "name": "AskUser", "result": "The user answered:\nblue"}],
            },
            {"type": "token", "data": "Blue it is."},
            {"type": "finish", "reason": "stop", "usage": {"inputTokens": 20, "outputTokens": 10}},
        ]
    )


async def test_an_open_question_is_listed_with_what_it_asks() -> None:
    async with (
        serving(ScriptedModel(CALL), agents=[ASKER]) as served,
        served.client.chat(userId="ann", sessionId="s") as stream,
    ):
        await asked(stream)
        await parked(served, stream.headers["x-run-id"])
        listed = (await served.client.get("/ai-api/approvals?userId=ann")).json
        others = (await served.client.get("/ai-api/approvals?userId=bob")).json
        run = (await served.client.get(f"/ai-api/runs/{stream.headers['x-run-id']}")).json
    assert plain(exactly(answers.ApprovalList, listed)) == snapshot(
        {
            "approvals": [
                {
                    "requestId": "ASK",
                    "runId": "RUN",
                    "sessionId": "s",
                    "userId": "ann",
                    "toolCalls": [
                        {
                            "id": "scripted_1",
                            "name": "AskUser",
                            "arguments": '{"question":"Which colour?","choices":["red","blue"]}',
                        }
                    ],
                    "reason": "question",
                    "createdAt": "TIME",
                    "expiresAt": "TIME",
                    "question": "Which colour?",
                    "choices": ["red", "blue"],
                }
            ]
        }
    )
    assert others == {"approvals": []}
    assert run["approvals"] == listed["approvals"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"decision": "APPROVE"}, "APPROVE it with an answer"),
        ({"decision": "APPROVE", "answer": ""}, "the answer is empty"),
        ({"decision": "APPROVE", "answer": "x" * 1_000_000}, "the answer has 1000000 characters"),
        ({"decision": "APPROVE", "answer": ["blue"]}, "answer: "),
        ({"decision": "APPROVE", "answer": "blue", "remember": "session"}, "no remember"),
        ({"decision": "APPROVE", "arguments": {"question": "?"}}, "APPROVE it with an answer"),
        ({"decision": "DECLINE", "answer": "blue"}, "goes with APPROVE only"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_what_is_no_answer_is_422_with_words_and_decides_nothing(fields: dict[str, Any], said: str) -> None:
    async with serving(ScriptedModel(CALL), agents=[ASKER]) as served, served.client.chat() as stream:
        id_ = await asked(stream)
        reply = await served.client.post(APPROVAL, {"requestId": id_} | fields)
        open_ = (await served.client.get("/ai-api/approvals")).json["approvals"]
    assert (reply.status, reply.json["code"], len(open_)) == (422, "invalid_request", 1)
    assert said in reply.json["detail"]


async def test_an_answer_to_what_asks_for_consent_is_422_and_nothing_runs() -> None:
    shop = Shop()
    model = ScriptedModel(Call("refund", {"order_id": "42", "amount": 40}))
    async with serving(model, tools=shop.tools()) as served, served.client.chat() as stream:
        id_ = (await stream.until("approval_request")).data["data"]
        reply = await served.client.post(APPROVAL, {"requestId": id_, "decision": "APPROVE", "answer": "yes"})
        open_ = (await served.client.get("/ai-api/approvals")).json["approvals"]
    assert (reply.status, len(open_), shop.refunds) == (422, 1, [])
    assert "takes no answer" in reply.json["detail"]
