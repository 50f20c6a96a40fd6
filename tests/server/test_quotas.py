"""Quotas and usage over HTTP: what a client is told, and who may see what was used."""

from typing import Any

from inline_snapshot import snapshot

from talaria.core.usage import Usage
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.client import Reply
from tests.server.serving import Served, serving

USERS = {"alice": [], "bob": [], "boss": ["usage:read"]}
AUTH = {"kind": "keys", "keys": [{"key": who, "tenant": "acme", "user": who, "roles": r} for who, r in USERS.items()]}


def says() -> ScriptedModel:
    return ScriptedModel(script=lambda _: Say("Yes.", usage=Usage(40, 2, 30, 1, cost=0.25)))


async def chat(served: Served, who: str = "alice", **fields: Any) -> int:
    headers = {"authorization": f"Bearer {who}"}
    body = {"query": "Go", "modelName": "m"} | fields
    async with served.client.stream("POST", "/ai-api/chat/stream", json=body, headers=headers) as stream:
        await stream.rest()
        return stream.status


async def get(served: Served, who: str, path: str = "/ai-api/usage") -> Reply:
    return await served.client.get(path, headers={"authorization": f"Bearer {who}"})


async def test_a_request_without_room_is_429_with_what_is_left_and_when_there_is_more() -> None:
    async with serving(says(), quotas={"users": {"*": {"requestsPerMinute": 1}}}) as served:
        assert await chat(served) == 200
        answer = await served.client.post("/ai-api/chat/stream", {"query": "Again"})
        assert (answer.status, answer.headers["retry-after"]) == (429, "60")
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json == snapshot(
            {
                "quota": "users.*.requestsPerMinute",
                "remaining": 0.0,
                "type": "about:blank",
                "title": "Too Many Requests",
                "status": 429,
                "detail": "the quota users.*.requestsPerMinute (1 requests a minute) is used up; "
                "there is room again in 60 s",
                "code": "quota_exceeded",
            }
        )


async def test_usage_is_ones_own_or_with_a_role_the_tenants() -> None:
    async with serving(says(), auth=AUTH) as served:
        await chat(served, labels={"team": "red"})
        await chat(served, "bob")
        assert (await get(served, "alice")).json == snapshot(
            {
                "from": "2026-12-17",
                "to": "2027-01-15",
                "usage": [
                    {
                        "group": {},
                        "requests": 1,
                        "runs": 1,
                        "modelCalls": 1,
                        "toolCalls": 0,
                        "inputTokens": 40,
                        "outputTokens": 2,
                        "cachedTokens": 30,
                        "reasoningTokens": 1,
                        "cost": {"unknown": 0.25},
                        "estimatedShare": 0.0,
                    }
                ],
            }
        )
        boss = await get(served, "boss", "/ai-api/usage?by=user,label:team&from=2027-01-15&to=2027-01-15")
        assert [each["group"] for each in boss.json["usage"]] == [
            {"user": "alice", "label:team": "red"},
            {"user": "bob", "label:team": None},
        ]
        assert (await get(served, "bob", "/ai-api/usage?by=user")).json["usage"][0]["group"] == {"user": "bob"}
        wrong = await get(served, "boss", "/ai-api/usage?by=users")
        assert (wrong.status, wrong.json["errors"][0]["field"]) == (422, "by")


async def test_without_a_login_one_users_usage_can_be_asked_for() -> None:
    async with serving(says()) as served:
        await chat(served, userId="x")
        await chat(served, userId="y")
        everybody, one = [(await served.client.get(f"/ai-api/usage{query}")).json for query in ("", "?userId=x")]
        assert (everybody["usage"][0]["requests"], one["usage"][0]["requests"]) == (2, 1)
