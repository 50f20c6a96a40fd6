"""Bodies that are wrong: refused with a problem document that names what is wrong, never with a fault."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import BaseModel

from talaria.runtime.request import ChatRequest
from talaria.server.body import MAX_BODY
from talaria.server.requests import ApprovalRequest
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.client import Client, Reply
from tests.server.serving import serving

STREAM = "/ai-api/chat/stream"
JSON = {"content-type": "application/json"}


async def send(body: bytes, headers: dict[str, str] | None = None) -> Reply:
    async with serving(ScriptedModel()) as served:
        return await served.client.request("POST", STREAM, body=body, headers=JSON if headers is None else headers)


async def post(**fields: Any) -> Reply:
    async with serving(ScriptedModel()) as served:
        return await served.client.post(STREAM, fields)


async def test_a_missing_query_is_named() -> None:
    reply = await post()
    assert (reply.status, reply.headers["content-type"]) == (422, "application/problem+json")
    assert reply.json == snapshot(
        {
            "type": "about:blank",
            "title": "Unprocessable Entity",
            "status": 422,
            "detail": "query: field required",
            "code": "invalid_request",
            "errors": [{"field": "query", "message": "field required"}],
        }
    )


async def test_every_wrong_field_is_named_by_its_path_on_the_wire() -> None:
    reply = await post(
        query="", userId=1.5, maxToolIterations=0, history=[{"role": 9}, {"role": 1, "toolCalls": [{"id": 1}]}], no=1
    )
    assert reply.json["errors"] == snapshot(
        [
            {"field": "query", "message": "string should have at least 1 character"},
            {"field": "userId", "message": "input should be a valid string or input should be a valid integer"},
            {"field": "maxToolIterations", "message": "input should be greater than or equal to 1"},
            {
                "field": "history[0].role",
                "message": "input should be 0, 1, 2, 3, 'system', 'user', 'assistant' or 'tool'",
            },
            {"field": "history[1].toolCalls[0].id", "message": "input should be a valid string"},
            {"field": "history[1].toolCalls[0].name", "message": "field required"},
            {"field": "no", "message": "there is no such field"},
        ]
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"query"',
        b"\xff\xfe",
        b'{"query": "\xff"}',
        b'{"query": "x", "temperature": NaN}',
        b'{"query": "x", "temperature": -Infinity}',
        b'{"query": "x", "temperature": 1e999}',
        b'{"query": "x", "userId": true}',
        b'{"query": null}',
        b'{"query": ["x"]}',
        b'{"query": "x", "session_id": "s"}',
        b'{"query": "x", "sessionId": "a/b"}',
        b'{"query": "x", "sessionId": ""}',
        b'{"query": "x", "userId": ""}',
        b'{"query": "x", "userId": "%s"}' % (b"u" * 300),
        b'{"query": "x", "maxTokens": %s}' % (b"9" * 5000),
        b'{"query": "x", "a": %s1%s}' % (b"[" * 5000, b"]" * 5000),
        b'{"query": "x", "a": %s1%s}' % (b"[" * 100_000, b"]" * 100_000),
        b'{"query": "x", "toolContext": {"apiKey": "1", "api_key": "2"}}',
        b'{"query": "x", "toolContext": {"apiKey": 1}}',
        b'{"query": "x", "tools": ["nothing"]}',
        b'{"query": "x", "agent": "nobody"}',
        b'{"query": "x", "history": [{"role": "user", "content": "y"}]}',
        b'{"query": "x", "whenBusy": "QUEUE"}',
        b'{"query": "x", "externalTools": [{"platform": "dify"}]}',
        b'{"query": "%s"}' % (b"x" * (1024 * 1024 + 1)),
    ],
    ids=range(29),
)
async def test_a_wrong_body_is_422(body: bytes) -> None:
    reply = await send(body)
    assert (reply.status, reply.json["code"]) == (422, "invalid_request")
    assert len(reply.body) < 3000


async def test_a_field_that_comes_later_is_named() -> None:
    assert (await post(query="x", subagents=[{"name": "a", "url": "b"}])).json["errors"] == snapshot(
        [{"field": "subagents", "message": "not available in this version; leave it out"}]
    )


async def test_a_body_over_8_mib_is_413_whether_it_says_so_or_not() -> None:
    assert (await send(b" " * (MAX_BODY + 1))).status == 413
    said = await send(b"{}", JSON | {"content-length": str(MAX_BODY + 1)})
    assert (said.status, said.json["code"]) == (413, "invalid_request")


@pytest.mark.parametrize("headers", [{}, {"content-type": "text/plain"}, {"content-type": "multipart/form-data"}])
async def test_a_body_that_is_not_declared_as_json_is_415(headers: dict[str, str]) -> None:
    reply = await send(b'{"query": "x"}', headers)
    assert (reply.status, reply.json["code"]) == (415, "invalid_request")


async def test_of_two_equal_keys_the_last_counts_and_bad_characters_are_replaced() -> None:
    model = ScriptedModel(Say("ok"))
    body = b'{"query": "first", "query": "a\\u0000b\\ud800c\\ud83d\\ude00", "userId": "\\udfff"}'
    async with serving(model) as served:
        reply = await served.client.request("POST", STREAM, body=body, headers=JSON)
        sessions = (await served.client.get("/ai-api/sessions")).json["sessions"]
    assert reply.status == 200
    assert model.requests[0].prompt.messages[0].parts[0].text == "a\ufffdb\ufffdc\U0001f600"  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert sessions[0]["userId"] == "\ufffd"


async def test_an_unknown_path_and_an_impossible_method_are_problems_too() -> None:
    async with serving(ScriptedModel()) as served:
        nowhere = await served.client.get("/ai-api/nowhere")
        method = await served.client.get(STREAM)
        other = await served.client.request("BREW", "/ai-api/sessions")
    assert (nowhere.status, nowhere.json["code"]) == (404, "not_found")
    assert (method.status, method.headers["allow"], method.headers["content-type"]) == (
        405,
        "POST",
        "application/problem+json",
    )
    assert (other.status, other.headers["allow"]) == (405, "GET, HEAD")


async def test_a_client_that_leaves_in_the_middle_of_its_body_starts_nothing() -> None:
    model = ScriptedModel()
    async with serving(model) as served:
        client = Client(served.app)
        reply = await client.request("POST", STREAM, body=b'{"query": ', headers=JSON)
    assert reply.status == 422
    assert model.requests == []


# No body makes a fault

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def bodies(model: type[BaseModel], **good: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies with some of a model's fields, each with any value, and the rest of it good."""
    names = [str(field.alias or name) for name, field in model.model_fields.items()]
    return st.dictionaries(st.sampled_from(names), _JSON, max_size=4).map(lambda wild: good | wild)


async def answer(path: str, body: dict[str, Any]) -> Reply:
    async with serving(ScriptedModel(script=lambda _: Say("ok"))) as served:
        return await served.client.request("POST", path, body=json.dumps(body).encode(), headers=JSON)


@given(bodies(ChatRequest, query="x"))
def test_no_chat_request_makes_a_fault(body: dict[str, Any]) -> None:
    assert asyncio.run(answer(STREAM, body)).status in (200, 422)


@given(bodies(ApprovalRequest, requestId="ask_1", decision="APPROVE"))
def test_no_decision_makes_a_fault(body: dict[str, Any]) -> None:
    assert asyncio.run(answer("/ai-api/chat/approval", body)).status in (404, 422)


@given(st.binary(max_size=40))
def test_no_bytes_make_a_fault(data: bytes) -> None:
    assert asyncio.run(send(data)).status in (200, 422)
