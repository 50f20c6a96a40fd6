"""What agents remember of a user: shown to that user, and deleted by that user."""

from typing import Any

from talaria.server import answers
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.serving import Served, serving
from tests.server.test_runs_and_sessions import exactly


def keep(path: str) -> Call:
    return Call("memory", {"command": "create", "path": f"/memories/{path}", "file_text": path})


async def turn(served: Served, **fields: Any) -> None:
    async with served.client.chat("Go", tools=["memory"], **fields) as stream:
        await stream.rest()


async def shown(served: Served, query: str = "?userId=ann") -> dict[str, list[str]]:
    view = exactly(answers.MemoryPage, (await served.client.get(f"/ai-api/memory{query}")).json)
    return {each.get("assistantId", ""): [file["path"] for file in each["files"]] for each in view["memories"]}


async def test_a_user_sees_and_deletes_what_is_remembered() -> None:
    model = ScriptedModel(keep("a/b.md"), keep("a/c.md"), keep("d.md"), Say("Kept."), keep("x.md"), Say("Kept."))
    async with serving(model) as served:
        await turn(served, userId="ann")
        await turn(served, userId="ann", assistantId="7")
        whole = ["/memories/a/b.md", "/memories/a/c.md", "/memories/d.md"]
        assert await shown(served) == {"": whole, "7": ["/memories/x.md"]}
        assert await shown(served, "?userId=bob") == {}
        for query, status in (
            ("?userId=ann&path=/memories/a", 204),
            ("?userId=ann&path=/memories/a", 404),
            ("?userId=ann&path=../x", 422),
            ("?userId=bob", 404),
            ("?userId=ann&assistantId=7", 204),
        ):
            assert (await served.client.delete(f"/ai-api/memory{query}")).status == status, query
        assert await shown(served) == {"": ["/memories/d.md"]}
        audit = (await served.client.get("/ai-api/audit?userId=ann&action=memory.delete")).json
        assert sorted(entry["subject"] for entry in audit["entries"]) == ["/memories", "/memories/a"]


async def test_many_memories_come_in_pages() -> None:
    steps = [step for _ in range(12) for step in (keep("a.md"), Say("Kept."))]
    async with serving(ScriptedModel(*steps)) as served:
        for n in range(12):
            await turn(served, userId="ann", assistantId=f"a{n}")
        first = (await served.client.get("/ai-api/memory?userId=ann")).json
        rest = (await served.client.get(f"/ai-api/memory?userId=ann&cursor={first['next']}")).json
        assert (len(first["memories"]), len(rest["memories"]), "next" in rest) == (10, 2, False)
        assert (await served.client.get("/ai-api/memory?cursor=x")).status == 422
