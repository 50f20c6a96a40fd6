"""A thousand people decide at the same moment, over real connections: one wins, the tool runs once."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout, TCPConnector

from talaria.testing.steps import Step
from tests.cli.mails import PLUGIN
from tests.cli.process import ask, chat, provider, talaria

MANY = 1_000
LIMIT = 50.0
MAIL = Step(calls=(("send_mail", {"to": "bob"}),))
QUESTION = Step(calls=(("AskUser", {"question": "Which colour?"}),))


async def decide(url: str, bodies: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Send all decisions at once, each over a connection of its own."""
    begin = asyncio.Event()

    async def one(client: ClientSession, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        await begin.wait()
        async with client.post(f"{url}/ai-api/chat/approval", json=body) as reply:
            return reply.status, await reply.json()

    async with ClientSession(connector=TCPConnector(limit=len(bodies)), timeout=ClientTimeout(LIMIT)) as client:
        under_way = [asyncio.create_task(one(client, body)) for body in bodies]
        begin.set()
        return await asyncio.gather(*under_way)


@pytest.mark.parametrize("store", ["memory://", "sqlite:///./talaria.db"])
async def test_of_a_thousand_decisions_at_once_one_wins_and_everybody_is_told_which(tmp_path: Path, store: str) -> None:
    (tmp_path / "mails.py").write_text(PLUGIN)
    with provider(tmp_path, [MAIL, Step(text="Done.")]) as models:
        config = models | {"store": {"url": store}, "plugins": ["mails"]}
        with talaria(tmp_path, config) as server, chat(server.url()) as stream:
            id_ = stream.until("approval_request")[1]["data"]
            bodies = [{"requestId": id_, "decision": ("APPROVE", "DECLINE")[at % 2]} for at in range(MANY)]
            replies = await decide(server.url(), bodies)
            events = [event for _, event in stream.rest()]
    (in_force,) = {reply["decision"] for _, reply in replies}
    same = {"approved": "APPROVE", "declined": "DECLINE"}[in_force]
    assert [status for status, _ in replies] == [200 if body["decision"] == same else 409 for body in bodies]
    assert all(
        reply["code"] == "conflict" and in_force in reply["detail"] for status, reply in replies if status == 409
    )
    assert [event["reason"] for event in events if event["type"] == "approval_resolved"] == [in_force]
    sent = (tmp_path / "sent").read_text() if (tmp_path / "sent").exists() else ""
    assert sent == ("bob\n" if in_force == "approved" else "")
    assert events[-1]["type"] == "finish"


async def test_of_a_thousand_answers_at_once_one_is_what_the_model_gets(tmp_path: Path) -> None:
    with provider(tmp_path, [QUESTION, Step(text="Done.")]) as models:
        agents = [{"name": "asker", "tools": ["AskUser"]}]
        config = models | {"store": {"url": "sqlite:///./talaria.db"}, "agents": agents}
        with talaria(tmp_path, config) as server, chat(server.url()) as stream:
            id_ = stream.until("question")[1]["data"]
            bodies = [{"requestId": id_, "decision": "APPROVE", "answer": f"colour {at}"} for at in range(MANY)]
            replies = await decide(server.url(), bodies)
            events = [event for _, event in stream.rest()]
            left = ask(server.url(), "/ai-api/approvals").json
    (answer,) = {reply["answer"] for _, reply in replies}
    assert Counter(status for status, _ in replies) == {200: 1, 409: MANY - 1}
    (result,) = [each for event in events for each in event.get("toolResults", ())]
    assert result["result"] == f"The user answered:\n{answer}"
    assert left == {"approvals": []}
