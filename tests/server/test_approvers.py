"""Who decides: the run's own user, or whoever has an approver's role in the same tenant, over HTTP and restarts."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from talaria import Agent
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.server.client import Exchange, Reply
from tests.server.serving import Served, Shop, serving

APPROVAL = "/ai-api/chat/approval"
PEOPLE: dict[str, dict[str, Any]] = {
    "ann": {"tenant": "acme", "roles": ["user"]},
    "carol": {"tenant": "acme", "roles": ["user"]},
    "bob": {"tenant": "acme", "roles": ["user", "boss"]},
    "eve": {"tenant": "umbrella", "roles": ["boss"]},
    "mia": {"tenant": "acme", "roles": ["user", "approval:bypass"]},
}
AUTH = {"kind": "keys", "keys": [{"key": f"key-of-{name}", "user": name} | rest for name, rest in PEOPLE.items()]}
BOSSES = {"approvers": ["boss"]}
OTHERS = BOSSES | {"notRequester": True}
CALL = Call("refund", {"order_id": "42", "amount": 40})


def by(name: str) -> dict[str, Any]:
    return {"headers": {"authorization": f"Bearer key-of-{name}"}}


def chat(served: Served, name: str, **fields: Any) -> AbstractAsyncContextManager[Exchange]:
    body = {"query": "Refund it", "sessionId": "s"} | fields
    return served.client.stream("POST", "/ai-api/chat/stream", json=body, **by(name))


async def asked(stream: Exchange) -> str:
    return str((await stream.until("approval_request")).data["data"])


async def decide(served: Served, name: str, request_id: str, decision: str = "APPROVE", **fields: Any) -> Reply:
    return await served.client.post(APPROVAL, {"requestId": request_id, "decision": decision} | fields, **by(name))


async def listed(served: Served, name: str) -> list[str]:
    reply = await served.client.get("/ai-api/approvals", **by(name))
    return [each["requestId"] for each in reply.json["approvals"]]


def open_shop(shop: Shop, approval: dict[str, Any], **config: Any) -> AbstractAsyncContextManager[Served]:
    model = ScriptedModel(script=lambda request: CALL if _is_new(request) else Say("Done."))
    return serving(model, tools=shop.tools(), auth=AUTH, approval=approval, **config)


def _is_new(request: Any) -> bool:
    return type(request.prompt.messages[-1]).__name__ == "UserMessage"


async def test_whoever_has_the_role_sees_the_question_and_decides_and_nobody_else_does() -> None:
    shop = Shop()
    async with open_shop(shop, BOSSES) as served, chat(served, "ann") as stream:
        request_id = await asked(stream)
        assert [await listed(served, name) for name in PEOPLE] == [[], [], [request_id], [], []]
        for stranger in ("carol", "eve", "mia"):
            assert (await decide(served, stranger, request_id)).status == 404
        own = await decide(served, "ann", request_id)
        assert (own.status, own.json["code"]) == (403, "forbidden")
        assert "takes one of the roles boss" in own.json["detail"]
        run = await served.client.get(f"/ai-api/runs/{stream.headers['x-run-id']}", **by("ann"))
        assert [each["requestId"] for each in run.json["approvals"]] == [request_id]
        assert (await decide(served, "bob", request_id, arguments={"order_id": "42", "amount": "x"})).status == 422
        good = await decide(served, "bob", request_id, arguments={"order_id": "42", "amount": 10})
        assert (good.status, good.json["by"], good.json["decision"]) == (200, "bob", "edited")
        await stream.rest()
        again = await decide(served, "bob", request_id, arguments={"order_id": "42", "amount": 10})
        assert (again.status, again.json["by"]) == (200, "bob")
        assert (await decide(served, "bob", request_id, "DECLINE")).status == 409
        assert (await decide(served, "eve", request_id)).status == 404
    assert shop.refunds == [("42", 10)]


async def test_an_approver_decides_about_their_own_run_unless_the_configuration_says_otherwise() -> None:
    for approval, status in ((BOSSES, 200), (OTHERS, 403)):
        async with open_shop(Shop(), approval) as served, chat(served, "bob") as stream:
            request_id = await asked(stream)
            assert (await decide(served, "bob", request_id)).status == status
            assert await listed(served, "bob") == []
            if status == 403:
                view = await served.client.get(f"/ai-api/runs/{stream.headers['x-run-id']}", **by("bob"))
                assert [each["requestId"] for each in view.json["approvals"]] == [request_id]


async def test_without_approvers_the_runs_own_user_decides() -> None:
    shop = Shop()
    async with open_shop(shop, {}) as served, chat(served, "ann") as stream:
        request_id = await asked(stream)
        assert await listed(served, "bob") == []
        assert (await decide(served, "bob", request_id)).status == 404
        assert (await decide(served, "ann", request_id)).json["by"] == "ann"
        await stream.rest()
    assert shop.refunds == [("42", 40)]


async def test_an_approver_decides_while_no_process_runs_the_turn(tmp_path: Path) -> None:
    shop, store = Shop(), {"url": f"sqlite:///{tmp_path / 'a.db'}"}
    async with open_shop(shop, OTHERS, store=store) as served, chat(served, "ann") as stream:
        request_id, run_id = await asked(stream), stream.headers["x-run-id"]
    assert shop.refunds == []
    async with open_shop(shop, OTHERS, store=store) as served:
        assert await listed(served, "bob") == [request_id]
        assert (await decide(served, "ann", request_id)).status == 403
        assert (await decide(served, "bob", request_id)).json["by"] == "bob"
        async with served.client.stream("GET", f"/ai-api/runs/{run_id}/events", **by("ann")) as stream:
            assert (await stream.rest())[-1].data["reason"] == "stop"
    assert shop.refunds == [("42", 40)]


async def test_consent_that_the_requester_gave_earlier_does_not_stand_for_an_approvers(tmp_path: Path) -> None:
    shop, store = Shop(), {"url": f"sqlite:///{tmp_path / 'a.db'}"}
    async with open_shop(shop, {}, store=store) as served, chat(served, "ann") as stream:
        assert (await decide(served, "ann", await asked(stream), remember="session")).status == 200
        await stream.rest()
    async with open_shop(shop, {}, store=store) as served, chat(served, "ann") as stream:
        await stream.rest()  # nobody is asked
    assert len(shop.refunds) == 2
    async with open_shop(shop, BOSSES, store=store) as served, chat(served, "ann") as stream:
        assert (await decide(served, "bob", await asked(stream), remember="session")).status == 200
        await stream.rest()
    async with open_shop(shop, BOSSES, store=store) as served, chat(served, "ann") as stream:
        await stream.rest()  # an approver agreed for the session
    assert len(shop.refunds) == 4


@pytest.mark.parametrize(("name", "refunds"), [("mia", [("42", 40)]), ("ann", [])])
async def test_only_the_role_of_bypass_goes_past_approvers(name: str, refunds: list[tuple[str, int]]) -> None:
    shop = Shop()
    async with open_shop(shop, OTHERS) as served, chat(served, name, bypassApproval=True) as stream:
        if refunds:
            assert "approval_request" not in [event.type for event in await stream.rest()]
        else:
            await asked(stream)
    assert shop.refunds == refunds


async def test_tools_that_are_denied_to_somebody_are_not_listed_for_them() -> None:
    policy = {"rules": [{"deny": "refund", "roles": ["user"]}, {"ask": "look_up", "roles": ["boss"]}]}
    async with open_shop(Shop(), {}, policy=policy) as served:
        views = {name: (await served.client.get("/ai-api/tools", **by(name))).json["tools"] for name in ("ann", "eve")}
    assert [each["name"] for each in views["ann"]] == ["look_up", "AskUser", "TodoWrite", "memory"]
    assert [(each["name"], each.get("approval", False)) for each in views["eve"]] == [
        ("refund", True),
        ("look_up", True),
        ("AskUser", False),
        ("TodoWrite", False),
        ("memory", False),
    ]


async def test_a_question_stays_the_users_when_it_has_been_decided() -> None:
    model = ScriptedModel(Call("AskUser", {"question": "Which?"}), Say("Done."))
    asker = Agent("asker", tools=["AskUser"])
    async with serving(model, agents=[asker], auth=AUTH, approval=OTHERS) as served, chat(served, "ann") as stream:
        request_id = str((await stream.until("question")).data["data"])
        assert (await decide(served, "bob", request_id, "DECLINE")).status == 404
        assert (await decide(served, "ann", request_id, "DECLINE", comment="private")).status == 200
        await stream.rest()
        assert (await decide(served, "ann", request_id, "DECLINE", comment="private")).status == 200
        assert (await decide(served, "ann", request_id, answer="late")).status == 409
        assert (await decide(served, "bob", request_id, "DECLINE")).status == 404


async def test_a_question_that_expired_stays_the_users() -> None:
    model, clock = ScriptedModel(Call("AskUser", {"question": "Which?"}), Say("Done.")), FakeClock()
    agents = [Agent("asker", tools=["AskUser"])]
    async with serving(model, agents=agents, auth=AUTH, approval=OTHERS, clock=clock) as served:
        async with chat(served, "ann") as stream:
            request_id = str((await stream.until("question")).data["data"])
            clock.move(300)
            await stream.rest()
        late = await decide(served, "ann", request_id, answer="late")
        assert (late.status, late.json["decision"]) == (409, "expired")
        assert (await decide(served, "bob", request_id)).status == 404


async def test_consent_that_an_approver_gave_to_themselves_ends_with_notRequester(tmp_path: Path) -> None:  # noqa: N802
    shop, store = Shop(), {"url": f"sqlite:///{tmp_path / 'a.db'}"}
    async with open_shop(shop, BOSSES, store=store) as served, chat(served, "bob") as stream:
        assert (await decide(served, "bob", await asked(stream), remember="session")).status == 200
        await stream.rest()
    async with open_shop(shop, BOSSES, store=store) as served, chat(served, "bob") as stream:
        await stream.rest()  # nobody is asked
    assert len(shop.refunds) == 2
    async with open_shop(shop, OTHERS, store=store) as served, chat(served, "bob") as stream:
        await asked(stream)
    assert len(shop.refunds) == 2


async def test_people_are_shown_what_runs_and_not_a_name_that_stands_there_twice() -> None:
    shop = Shop()
    twice = Call("refund", '{"order_id": "42", "amount": 1, "amount": 1000}')
    async with (
        serving(ScriptedModel(twice, Say("Done.")), tools=shop.tools()) as served,
        served.client.chat() as stream,
    ):
        (call,) = (await stream.until("approval_request")).data["toolCalls"]
        assert call["arguments"] == '{"order_id":"42","amount":1000}'


@pytest.mark.parametrize(
    ("denied", "listed"),
    [("source:user", ["AskUser", "TodoWrite", "memory"]), ("source:builtin", ["refund", "look_up"])],
)
async def test_the_question_tool_is_part_of_the_harness_for_rules(denied: str, listed: list[str]) -> None:
    async with open_shop(Shop(), {}, policy={"rules": [{"deny": denied}]}) as served:
        views = (await served.client.get("/ai-api/tools", **by("ann"))).json["tools"]
    assert [each["name"] for each in views] == listed
