"""The OpenAPI document: valid, complete, and true."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from talaria.server.endpoints import ENDPOINTS
from talaria.server.problems import STATUS
from talaria.testing.scripted_model import Call, Restarted, Say, ScriptedModel
from tests.server.serving import Shop, serving


@pytest.fixture
async def document() -> Any:
    async with serving(None) as served:
        reply = await served.client.get("/openapi.json")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    return reply.json


async def test_it_is_valid_and_names_every_endpoint(document: Any) -> None:
    validate(document)
    assert {(method.upper(), path) for path, item in document["paths"].items() for method in item} == {
        (endpoint.method, endpoint.path) for endpoint in ENDPOINTS
    }


async def test_every_problem_it_promises_has_a_status_of_the_table(document: Any) -> None:
    promised = {
        int(status)
        for item in document["paths"].values()
        for operation in item.values()
        for status, response in operation["responses"].items()
        if "application/problem+json" in response.get("content", {})
    }
    assert promised <= {*STATUS.values(), 400, 408, 413, 415, 416}


async def test_it_shows_what_a_client_may_send(document: Any) -> None:
    assert sorted(document["components"]["schemas"]["ChatRequest"]["properties"]) == snapshot(
        [
            "agent",
            "assistantId",
            "attachments",
            "bypassApproval",
            "externalTools",
            "history",
            "idempotencyKey",
            "labels",
            "maxTokens",
            "maxToolIterations",
            "modelName",
            "onDisconnect",
            "outputSchema",
            "query",
            "sessionId",
            "skills",
            "system",
            "temperature",
            "thinking",
            "toolContext",
            "tools",
            "useServerMemory",
            "userId",
            "whenBusy",
        ]
    )


async def test_every_event_of_a_stream_fits_its_schema(document: Any) -> None:
    calls = (Call("look_up", {"order_id": "1"}), Call("refund", {"order_id": "1", "amount": 1}))
    model = ScriptedModel(Say("Hm.", "Think.", calls), Restarted("x", Say("Done.")))
    schema = {"$ref": "#/components/schemas/ChatEvent", "components": document["components"]}
    async with serving(model, tools=Shop().tools()) as served, served.client.chat() as stream:
        id_ = (await stream.until("approval_request")).data["data"]
        await served.client.post("/ai-api/chat/approval", {"requestId": id_, "decision": "APPROVE"})
        await stream.rest()
    validator = Draft202012Validator(schema)
    for event in stream.seen:
        validator.validate(event.data)  # pyright: ignore[reportUnknownMemberType]
    assert len({event.type for event in stream.seen}) > 8


async def test_problems_fit_their_schema(document: Any) -> None:
    schema = {"$ref": "#/components/schemas/Problem", "components": document["components"]}
    async with serving(ScriptedModel(Say("x", gate=asyncio.Event()))) as served:
        for reply in (
            await served.client.get("/nowhere"),
            await served.client.post("/ai-api/chat/stream", {}),
            await served.client.post("/ai-api/chat/cancel", {"runId": "x"}),
        ):
            Draft202012Validator(schema).validate(reply.json)  # pyright: ignore[reportUnknownMemberType]
