"""Agents for roles: who has none of them neither sees nor uses the agent, and that is on record."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from talaria import Agent
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.server.client import Reply
from tests.server.serving import Served, serving

KEYS = [
    {"key": "alice", "tenant": "acme", "user": "alice", "roles": ["finance", "audit:read"]},
    {"key": "bob", "tenant": "acme", "user": "bob", "roles": ["sales"]},
    {"key": "carol", "tenant": "acme", "user": "carol"},
]
AGENTS = [Agent("books", roles=["finance", "board"]), Agent("help")]


def by(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@asynccontextmanager
async def shop(*agents: Agent) -> AsyncGenerator[Served]:
    model = ScriptedModel(script=lambda _: Say("Yes."))
    async with serving(model, auth={"kind": "keys", "keys": KEYS}, agents=agents or AGENTS) as served:
        yield served


async def ask(served: Served, key: str, agent: str | None = None) -> Reply:
    body = {"query": "Hello"} | ({} if agent is None else {"agent": agent})
    return await served.client.post("/ai-api/chat/stream", body, headers=by(key))


def forbidden(answer: Reply, agent: str) -> None:
    assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert f"agent '{agent}' asks for a role that you do not have" in answer.json["detail"]


async def test_who_has_one_of_its_roles_may_use_an_agent_and_nobody_else() -> None:
    async with shop() as served:
        assert (await ask(served, "alice", "books")).status == 200
        for key in ("bob", "carol"):
            forbidden(await ask(served, key, "books"), "books")
            assert (await ask(served, key, "help")).status == 200
        assert len(served.model.requests) == 3


async def test_the_default_agent_is_not_replaced_by_another_one_without_a_word() -> None:
    async with shop() as served:
        answer = await ask(served, "bob")
        forbidden(answer, "books")
        assert "name another one" in answer.json["detail"]
        assert (await ask(served, "alice")).status == 200


async def test_only_agents_that_one_may_use_are_listed() -> None:
    async with shop() as served:
        listed = {
            key: [each["name"] for each in (await served.client.get("/ai-api/agents", headers=by(key))).json["agents"]]
            for key in ("alice", "bob")
        }
    assert listed == {"alice": ["books", "help"], "bob": ["help"]}


async def test_where_agents_are_for_roles_there_is_no_way_around_them_under_the_name_of_the_built_in_one() -> None:
    async with shop() as served:
        assert (await ask(served, "bob", "assistant")).status == 422
    async with shop(Agent("help")) as served:
        assert (await ask(served, "bob", "assistant")).status == 200


async def test_without_a_login_nobody_has_a_role() -> None:
    async with serving(ScriptedModel(Say("Hi.")), agents=AGENTS) as served:
        forbidden(await served.client.post("/ai-api/chat/stream", {"query": "Hello"}), "books")


async def test_a_refusal_is_on_record() -> None:
    async with shop() as served:
        forbidden(await ask(served, "bob", "books"), "books")
        (entry,) = (await served.client.get("/ai-api/audit", headers=by("alice"))).json["entries"]
    assert (entry["action"], entry["outcome"], entry["subject"]) == ("agent.permission", "deny", "books")
    assert (entry["userId"], entry["rule"]) == ("bob", "agent.roles")
