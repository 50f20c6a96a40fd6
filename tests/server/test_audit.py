"""The audit over HTTP: who sees which decisions, in pages and as lines, and how long they stay."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, Principal
from talaria.server import answers
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.polling import eventually
from tests.server.client import Reply
from tests.server.serving import Served, Shop, plain, serving
from tests.server.test_runs_and_sessions import exactly

KEYS: list[dict[str, Any]] = [
    {"key": "alice", "tenant": "acme", "user": "alice"},
    {"key": "bob", "tenant": "acme", "user": "bob"},
    {"key": "auditor", "tenant": "acme", "user": "eve", "roles": ["audit:read"]},
    {"key": "stranger", "tenant": "umbrella", "user": "alice", "roles": ["audit:read"]},
    {"key": "operator", "user": "op", "roles": ["audit:read"]},
]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'talaria.db'}"


def by(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@asynccontextmanager
async def audited(clock: FakeClock | None = None, **config: Any) -> AsyncGenerator[Served]:
    model = ScriptedModel(Call("refund", {"order_id": "1", "amount": 2}), Say("Well then."))
    settings: dict[str, Any] = {"auth": {"kind": "keys", "keys": KEYS}} | config
    async with serving(model, tools=Shop().tools(), clock=clock or FakeClock(), **settings) as served:
        yield served


async def look(served: Served, key: str, query: str = "", **headers: str) -> Reply:
    return await served.client.get(f"/ai-api/audit{query}", headers=by(key) | headers)


async def entries(served: Served, key: str, query: str = "") -> list[dict[str, Any]]:
    answer = await look(served, key, query)
    assert answer.status == 200, answer.body
    return answer.json["entries"]


async def note(served: Served, user: str, subject: str, tenant: str = "acme", outcome: str = "deny") -> None:
    """What other parts write into it."""
    await served.runtime.parts.kit.audit.record(Principal(tenant, user), "quota", outcome, subject=subject)


async def refund(served: Served, key: str, **fields: Any) -> None:
    """A decision by a person, in a session."""
    async with served.client.stream(
        "POST", "/ai-api/chat/stream", json={"query": "Go"} | fields, headers=by(key)
    ) as stream:
        question = (await stream.until("approval_request")).data["data"]
        body = {"requestId": question, "decision": "DECLINE", "comment": "too much"}
        assert (await served.client.post("/ai-api/chat/approval", body, headers=by(key))).status == 200
        await stream.rest()


async def test_a_decision_is_shown_with_whom_it_concerns_and_who_made_it() -> None:
    async with audited() as served:
        await refund(served, "alice")
        page = (await look(served, "alice")).json
    assert plain(exactly(answers.AuditPage, page)) == snapshot(
        {
            "entries": [
                {
                    "action": "approval",
                    "outcome": "declined",
                    "at": "TIME",
                    "userId": "alice",
                    "subject": "refund",
                    "by": "alice",
                    "detail": "too much",
                    "sessionId": "SES",
                    "runId": "RUN",
                    "toolCallId": "scripted_1",
                }
            ]
        }
    )


async def test_who_has_the_role_sees_the_tenant_and_others_see_themselves(store: str) -> None:
    async with audited(store={"url": store}) as served:
        for user, tenant in (("alice", "acme"), ("bob", "acme"), ("alice", "umbrella"), ("s", "acme/alice")):
            await note(served, user, f"{tenant}-{user}", tenant)
        seen = {each["key"]: sorted(e["subject"] for e in await entries(served, each["key"])) for each in KEYS}
        assert seen == {
            "alice": ["acme-alice"],
            "bob": ["acme-bob"],
            "auditor": ["acme-alice", "acme-bob"],
            "stranger": ["umbrella-alice"],
            "operator": [],
        }
        assert [each["subject"] for each in await entries(served, "auditor", "?user=bob")] == ["acme-bob"]
        assert [each["subject"] for each in await entries(served, "bob", "?user=bob")] == ["acme-bob"]
        for lines in ("", "&format=jsonl"):
            answer = await look(served, "alice", f"?user=bob{lines}")
            assert (answer.status, answer.json["code"]) == (403, "forbidden")
            assert "audit:read" in answer.json["detail"]


async def test_pages_follow_each_other_newest_first(store: str) -> None:
    clock = FakeClock()
    async with audited(clock=clock, store={"url": store}) as served:
        for number in range(7):
            await note(served, "alice", str(number))
            clock.move(1 if number % 2 else 0)  # two each have the same time
        pages, cursor = list[list[str]](), ""
        while True:
            page = (await look(served, "auditor", f"?limit=3{cursor}")).json
            pages.append([each["subject"] for each in page["entries"]])
            if "next" not in page:
                break
            cursor = f"&cursor={page['next']}"
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(sum(pages, list[str]())) == [str(number) for number in range(7)]
    assert [page[0] for page in pages[:1]] == ["6"]


async def test_decisions_are_found_by_what_they_were_about_and_when() -> None:
    clock = FakeClock()
    async with audited(clock=clock) as served:
        times = list[str]()
        for number, outcome in enumerate(("deny", "allow", "deny", "allow")):
            times.append(datetime.fromtimestamp(clock.now() / 1000, UTC).isoformat().replace("+00:00", "Z"))
            await note(served, "alice", str(number), outcome=outcome)
            clock.move(60)

        async def found(query: str) -> list[str]:
            return [each["subject"] for each in await entries(served, "auditor", query)]

        assert await found("?outcome=deny") == ["2", "0"]
        assert await found("?action=quota&outcome=allow&limit=1") == ["3"]
        assert await found("?action=approval") == []
        assert await found(f"?from={times[1]}&to={times[3]}") == ["2", "1"]
        assert await found(f"?from={times[2]}") == ["3", "2"]
        assert await found("?to=1999-01-01") == []


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "cursor=x", "from=now", "to=99999-01-01", "format=xml"])
async def test_a_wrong_parameter_is_named(query: str) -> None:
    async with audited() as served:
        answer = await look(served, "auditor", f"?{query}")
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert query.partition("=")[0] in answer.json["detail"]


async def test_a_search_that_finds_little_looks_through_a_bounded_part_and_says_where_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("talaria.runtime.listing.LOOK", 10)
    async with audited() as served:
        await note(served, "alice", "first", outcome="allow")
        served.runtime.parts.kit.clock.move(1)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        for number in range(15):
            await note(served, "alice", str(number))
        page = (await look(served, "auditor", "?outcome=allow")).json
        assert page["entries"] == []
        page = (await look(served, "auditor", f"?outcome=allow&cursor={page['next']}")).json
        assert [each["subject"] for each in page["entries"]] == ["first"]


# Lines


@pytest.mark.parametrize(
    ("query", "accept"), [("?format=jsonl", "*/*"), ("", "application/jsonl"), ("?format=jsonl", "application/json")]
)
async def test_all_of_it_comes_as_lines_of_json(query: str, accept: str) -> None:
    async with audited() as served:
        for number in range(2500):
            await note(served, "alice", str(number))
        await note(served, "alice", "other", "umbrella")
        answer = await look(served, "auditor", query, accept=accept)
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert answer.headers["cache-control"] == "no-store"
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert sorted(int(line["subject"]) for line in lines) == list(range(2500))


async def test_lines_are_filtered_too_and_may_be_none() -> None:
    async with audited() as served:
        await note(served, "alice", "1", outcome="allow")
        await note(served, "alice", "2")
        answer = await look(served, "alice", "?format=jsonl&outcome=allow")
        assert [json.loads(line)["subject"] for line in answer.body.splitlines()] == ["1"]
        assert (await look(served, "alice", "?format=jsonl&outcome=no")).body == b""
        head = await served.client.request("HEAD", "/ai-api/audit?format=jsonl", headers=by("alice"))
        assert (head.status, head.body) == (200, b"")
        assert (await look(served, "alice", "?format=json", accept="application/jsonl")).json["entries"] != []


async def test_who_reads_slowly_makes_nothing_pile_up() -> None:
    async with audited() as served:
        for number in range(4000):
            await note(served, "alice", f"{number}-" + "x" * 200)
        read = list[int]()
        index = served.runtime.parts.kit.store.index
        find = index.find

        async def counted(*args: Any, **named: Any) -> Any:
            rows = await find(*args, **named)
            read.append(len(rows))
            return rows

        index.find = counted
        path = "/ai-api/audit?format=jsonl"
        async with served.client.stream("GET", path, headers=by("auditor"), unread=1) as stream:
            await stream.bytes()
            await asyncio.sleep(0.05)
            assert sum(read) <= 2000
            size = 0
            while (data := await stream.bytes()) is not None:
                size += len(data)
        assert sum(read) == 4000
        assert size > 500_000


# What no session has on record


async def test_refused_logins_are_on_record_without_what_was_sent() -> None:
    async with audited() as served:
        assert (await look(served, "wrong-key")).status == 401
        assert (await served.client.get("/ai-api/audit")).status == 401  # who sends nothing tried nothing
        (entry,) = await entries(served, "operator")
        assert entry | {"at": ""} == {
            "action": "login",
            "outcome": "refused",
            "at": "",
            "detail": "this key is not known here; from 127.0.0.1",
        }
        assert await entries(served, "auditor") == []
        assert "wrong-key" not in json.dumps(entry)


async def test_a_flood_of_refused_logins_is_counted_rather_than_written_down() -> None:
    clock = FakeClock()
    async with audited(clock=clock) as served:
        for _ in range(300):
            await look(served, "wrong-key")
        assert len((await look(served, "operator", "?format=jsonl")).body.splitlines()) == 100
        clock.move(3600)
        await look(served, "wrong-key")
        lines = (await look(served, "operator", "?format=jsonl")).body.splitlines()
        assert len(lines) == 102
        assert "200 more in an earlier hour" in {json.loads(line).get("detail") for line in lines}


# How long


async def test_decisions_outlive_their_sessions() -> None:
    async with audited() as served:
        await refund(served, "alice")
        (session,) = (await served.client.get("/ai-api/sessions", headers=by("alice"))).json["sessions"]
        gone = await served.client.delete(f"/ai-api/sessions/{session['sessionId']}", headers=by("alice"))
        assert gone.status == 204
        assert [each["action"] for each in await entries(served, "alice")] == ["approval"]


async def test_decisions_go_after_their_retention_however_many_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("talaria.runtime.retention.AUDIT_BATCH", 10)
    clock = FakeClock()
    async with audited(clock=clock, audit={"retention": 3600}, sessions={"retention": None}) as served:
        for number in range(25):
            await note(served, "alice", str(number))
        clock.move(1800)
        await note(served, "alice", "young")
        clock.move(1800)

        async def is_swept() -> bool:
            clock.move(1)
            return [each["subject"] for each in await entries(served, "alice")] == ["young"]

        await eventually(is_swept, "all but the young one being gone")


async def test_decisions_of_a_session_that_is_begun_again_do_not_write_over_those_of_the_one_before(store: str) -> None:
    steps = [step for _ in range(2) for step in (Call("refund", {"order_id": "1", "amount": 2}), Say("Well then."))]
    settings: dict[str, Any] = {"auth": {"kind": "keys", "keys": KEYS}, "store": {"url": store}}
    async with serving(ScriptedModel(*steps), tools=Shop().tools(), clock=FakeClock(), **settings) as served:
        for _ in range(2):
            await refund(served, "alice", sessionId="same")
            assert (await served.client.delete("/ai-api/sessions/same", headers=by("alice"))).status == 204
        found = await entries(served, "alice", "?action=approval")
        assert [each["sessionId"] for each in found] == ["same", "same"]
        assert len({each["runId"] for each in found}) == 2


async def test_who_asks_for_a_forbidden_agent_again_and_again_is_on_record_once_a_minute() -> None:
    clock, agents = FakeClock(), [Agent("books", roles=["finance"]), Agent("board", roles=["finance"])]
    async with audited(clock=clock, agents=agents) as served:
        for name in ("books", "board", "books", "books"):
            body = {"query": "Go", "agent": name}
            assert (await served.client.post("/ai-api/chat/stream", body, headers=by("alice"))).status == 403
        assert sorted(each["subject"] for each in await entries(served, "alice")) == ["board", "books"]
        clock.move(60)
        assert (await served.client.post("/ai-api/chat/stream", body, headers=by("alice"))).status == 403
        assert len(await entries(served, "alice")) == 3
