"""What belongs to somebody does not exist for anybody else: every endpoint, asked by other users and tenants."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from talaria.server.endpoints import ENDPOINTS
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.client import Reply
from tests.server.serving import Served, Shop, serving
from tests.server.uploads import upload

SECRET = "marzipan"
OWNER = "key-of-alice"
STRANGERS = {
    "another user of the tenant": {"key": "key-1", "tenant": "acme", "user": "carol"},
    "the same name in another tenant": {"key": "key-2", "tenant": "umbrella", "user": "alice"},
    "another user of another tenant": {
        "key": "key-3",
        "tenant": "umbrella",
        "user": "dave",
        "roles": ["admin", "audit:read"],
    },
    "a tenant whose name begins like it": {"key": "key-4", "tenant": "acme/alice", "user": "s"},
}
AUTH = {"kind": "keys", "keys": [{"key": OWNER, "tenant": "acme", "user": "alice"}, *STRANGERS.values()]}


class Owned(NamedTuple):
    """What Alice has."""

    served: Served
    run: str
    parked: str
    question: str
    artifact: str

    async def ask(self, key: str, method: str, path: str, body: dict[str, str] | None = None) -> Reply:
        path = path.format(runId=self.run, sessionId="s", token=self.question, port=8000, artifactId=self.artifact)
        if body is not None:
            body = {name: value.format(parked=self.parked, question=self.question) for name, value in body.items()}
        return await self.served.client.request(method, path, json=body, headers={"authorization": f"Bearer {key}"})


@asynccontextmanager
async def owned(folder: Path) -> AsyncGenerator[Owned]:
    keep = {"command": "create", "path": f"/memories/{SECRET}.md", "file_text": SECRET}
    steps = [Call("memory", keep), Say(f"The word is {SECRET}."), Call("refund", {"order_id": SECRET, "amount": 1})]
    model = ScriptedModel(script=lambda _: steps.pop(0) if steps else Say("Hello to you."))
    async with serving(model, tools=Shop().tools(), auth=AUTH, artifacts={"url": f"file:{folder}"}) as served:
        headers = {"authorization": f"Bearer {OWNER}"}
        body = {"query": f"Remember {SECRET}", "sessionId": "s", "idempotencyKey": "once", "tools": ["memory"]}
        async with served.client.stream("POST", "/ai-api/chat/stream", json=body, headers=headers) as stream:
            await stream.rest()
            run = stream.headers["x-run-id"]
        body = {"query": "Refund it", "sessionId": "s"}
        async with served.client.stream("POST", "/ai-api/chat/stream", json=body, headers=headers) as stream:
            question = (await stream.until("approval_request")).data["data"]
            file = (await upload(served.client, SECRET.encode(), headers=headers)).json["artifactId"]
            yield Owned(served, run, stream.headers["x-run-id"], question, file)


def missing(answer: Reply) -> None:
    assert (answer.status, answer.json["code"]) == (404, "not_found")


def no_page(answer: Reply) -> None:
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")


def empty(answer: Reply) -> None:
    assert answer.status == 200
    assert [value for value in answer.json.values() if value] == []


def unused(answer: Reply) -> None:
    assert (answer.status, answer.json["usage"]) == (200, [])


def new(answer: Reply) -> None:
    """A turn of one's own, also under the same ids, knows nothing of what others said."""
    assert answer.status == 200
    assert b"Hello to you" in answer.body


def refused(answer: Reply) -> None:
    """It takes a form, which leads to nothing of anybody's."""
    assert answer.status == 415


def anybodys(answer: Reply) -> None:
    assert answer.status == 200


class Probe(NamedTuple):
    """What a stranger sends, and how the answer must be."""

    is_right: Callable[[Reply], None]
    body: dict[str, str] | None = None
    query: str = ""


PROBES: dict[str, Probe] = {
    "POST /ai-api/chat/stream": Probe(new, {"query": "Hi", "sessionId": "s", "idempotencyKey": "once"}),
    "POST /ai-api/chat/approval": Probe(missing, {"requestId": "{question}", "decision": "APPROVE"}),
    "POST /ai-api/chat/tool-result": Probe(missing, {"requestId": "{question}", "result": "done"}),
    "GET /ai-api/approvals": Probe(empty),
    "GET /ai-api/decide/{token}": Probe(no_page),
    "POST /ai-api/decide/{token}": Probe(no_page, query="?decision=approve"),
    "GET /metrics": Probe(anybodys),
    "GET /ai-api/models": Probe(anybodys),
    "GET /ai-api/tools": Probe(anybodys),
    "GET /ai-api/agents": Probe(anybodys),
    "GET /ai-api/audit": Probe(empty),
    "POST /ai-api/chat/cancel": Probe(missing, {"runId": "{parked}"}),
    "GET /ai-api/runs/{runId}": Probe(missing),
    "GET /ai-api/runs/{runId}/events": Probe(missing),
    "GET /ai-api/sessions": Probe(empty, query=f"?search={SECRET}"),
    "GET /ai-api/sessions/{sessionId}": Probe(missing),
    "DELETE /ai-api/sessions/{sessionId}": Probe(missing),
    "POST /ai-api/preview/{sessionId}/{port}": Probe(missing),
    "GET /ai-api/memory": Probe(empty),
    "DELETE /ai-api/memory": Probe(missing),
    "GET /ai-api/usage": Probe(unused),
    "POST /ai-api/files": Probe(refused),
    "GET /ai-api/download/{artifactId}": Probe(missing),
    "GET /healthz": Probe(anybodys),
    "GET /readyz": Probe(anybodys),
    "GET /openapi.json": Probe(anybodys),
}
"""Every endpoint there is. A new one gets a line here."""


def test_every_endpoint_has_its_probe() -> None:
    assert {f"{each.method} {each.path}" for each in ENDPOINTS} == PROBES.keys()


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_a_stranger_finds_nothing_at_any_endpoint(stranger: str, tmp_path: Path) -> None:
    key = str(STRANGERS[stranger]["key"])
    async with owned(tmp_path) as it:
        answers: dict[str, Reply] = {}
        for name, probe in sorted(PROBES.items(), key=lambda each: "chat/stream" in each[0]):
            method, path = name.split()
            answers[name] = await it.ask(key, method, path + probe.query, probe.body)
            probe.is_right(answers[name])
        assert [name for name, answer in answers.items() if SECRET.encode() in answer.body] == []
        assert SECRET not in str(it.served.model.requests[-1].prompt.messages)
        assert (await it.ask(OWNER, "GET", f"/ai-api/runs/{it.parked}")).json["status"] == "waiting_approval"


async def test_the_owner_finds_it_all(tmp_path: Path) -> None:
    """Otherwise the strangers' 404 would prove nothing."""
    async with owned(tmp_path) as it:
        for name, probe in PROBES.items():
            method, path = name.split()
            if probe.is_right is missing and method == "GET":
                assert (await it.ask(OWNER, method, path)).status == 200, name
        listed = await it.ask(OWNER, "GET", f"/ai-api/sessions?search={SECRET}")
        assert [each["sessionId"] for each in listed.json["sessions"]] == ["s"]
        assert len((await it.ask(OWNER, "GET", "/ai-api/approvals")).json["approvals"]) == 1
        decided = await it.ask(
            OWNER, "POST", "/ai-api/chat/approval", {"requestId": it.question, "decision": "DECLINE"}
        )
        assert decided.status == 200
        assert (await it.ask(OWNER, "POST", "/ai-api/chat/cancel", {"runId": it.parked})).status == 200
        assert (await it.ask(OWNER, "DELETE", "/ai-api/sessions/s")).status == 204
        for stranger in STRANGERS.values():
            missing(await it.ask(str(stranger["key"]), "GET", f"/ai-api/runs/{it.run}"))
