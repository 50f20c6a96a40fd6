"""Deliveries to a real receiver: at least once, signed, again after failures, and never in the way of anybody."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from talaria import Agent, Principal, tool
from talaria.core.errors import ModelRejected
from talaria.notify import sender
from talaria.runtime.scrape import scrape
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Fail, Say, ScriptedModel
from tests.notify.receiver import SECRET, Answer, Receiver, closes, document, hangs, pours, receiver, status
from tests.polling import eventually
from tests.runtime.tools import Shop
from tests.runtime.world import SESSION, World, world


@pytest.fixture
async def there() -> AsyncGenerator[Receiver]:
    async with receiver() as here:
        yield here


def to(receiver: Receiver, *on: str, **fields: Any) -> dict[str, Any]:
    return {"on": list(on) or ["finish"], "url": receiver.url, "secret": SECRET} | fields


async def waiting(here: World) -> int:
    notifier = here.parts.notifier
    assert notifier is not None
    return sum((await notifier.waiting()).values())


async def delivered(here: World) -> None:
    async def none() -> bool:
        return not await waiting(here)

    await eventually(none, "nothing waiting any more")


async def test_the_end_of_a_run_is_told_once_and_signed(there: Receiver, store: str) -> None:
    async with world(ScriptedModel(Say("Hello.")), store=store, notify=[to(there)]) as here:
        run_id = await here.send()
        await there.has(1)
        await delivered(here)
    (got,) = there.got
    got.check()
    assert got.headers["content-type"] == "application/json; charset=utf-8"
    assert got.json == {
        "type": "finish",
        "timestamp": "2027-01-15T08:00:00.000Z",
        "data": {
            "runId": run_id,
            "sessionId": SESSION,
            "userId": "anonymous",
            "tenant": "default",
            "agent": "assistant",
            "reason": "stop",
            "usage": {"inputTokens": 10, "outputTokens": 5},
        },
    }


async def test_an_error_is_told_with_its_code_and_a_finish_is_not_one(there: Receiver) -> None:
    model = ScriptedModel(Fail(ModelRejected("no")), Say("Better."))
    async with world(model, notify=[to(there, "error")]) as here:
        await here.events(await here.send())
        await here.events(await here.send())
        await there.has(1)
        await delivered(here)
    (got,) = there.got
    assert (got.json["type"], got.json["data"]["reason"]) == ("error", "model_rejected")


async def test_only_runs_of_the_named_agents_are_told(there: Receiver) -> None:
    agents = [Agent("clerk"), Agent("cook")]
    model = ScriptedModel(Say("a"), Say("b"))
    async with world(model, agents=agents, notify=[to(there, agents=["cook"])]) as here:
        await here.events(await here.send(agent="clerk"))
        await here.events(await here.send(agent="cook"))
        await there.has(1)
        await delivered(here)
    assert [got.json["data"]["agent"] for got in there.got] == ["cook"]


async def test_a_question_is_told_with_its_call_and_not_once_it_is_decided(there: Receiver) -> None:
    there.answers = [status(500)]
    shop, clock = Shop(), FakeClock()
    model = ScriptedModel(Call("refund", {"amount": 7}), Say("Paid."))
    async with world(model, tools=shop.tools, clock=clock, notify=[to(there, "approval_request")]) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        (got,) = await there.has(1)
        data = got.json["data"]
        assert (data["requestId"], data["expiresAt"]) == (request_id, "2027-01-15T08:05:00.000Z")
        assert [(call["name"], call["arguments"]) for call in data["toolCalls"]] == [("refund", '{"amount":7}')]
        assert "url" not in data
        await here.decide(request_id)
        await here.events(run_id)
        clock.move(60)
        await delivered(here)
    assert len(there.got) == 1


@pytest.mark.parametrize(
    "answer",
    [status(500), status(404), status(301, Location="/elsewhere"), status(429, Retry_After="5"), closes],
    ids=["500", "404", "redirect", "429", "closed"],
)
async def test_what_is_not_taken_is_sent_again_under_the_same_id(there: Receiver, answer: Answer) -> None:
    there.answers, clock = [answer, answer], FakeClock()
    async with world(ScriptedModel(Say("Hello.")), clock=clock, notify=[to(there)]) as here:
        await here.send()
        for count in (1, 2, 3):
            await moved_until(clock, there, count)
        await delivered(here)
    assert len({got.id for got in there.got}) == 1
    assert len(there.got) == 3
    times = [int(got.headers["webhook-timestamp"]) for got in there.got]
    assert times == sorted(set(times))  # a try is signed for its own time
    for got in there.got:
        got.check()


async def test_a_receiver_that_asks_for_time_gets_it(there: Receiver) -> None:
    there.answers, clock = [status(429, Retry_After="600")], FakeClock()
    async with world(ScriptedModel(Say("a"), Say("b")), clock=clock, notify=[to(there)]) as here:
        await here.events(await here.send())
        await there.has(1)
        await here.events(await here.send(session_id="other"))
        await moved_until(clock, there, 3)
    times = [int(got.headers["webhook-timestamp"]) for got in there.got]
    assert times[1] - times[0] >= 600


@pytest.mark.parametrize("answer", [hangs, pours], ids=["hangs", "pours"])
async def test_a_receiver_without_end_is_left(there: Receiver, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "TIMEOUT", 0.3)
    there.answers, clock = [answer], FakeClock()
    async with world(ScriptedModel(Say("Hello.")), clock=clock, notify=[to(there)]) as here:
        await here.send()
        if answer is hangs:
            await moved_until(clock, there, 2)
        await delivered(here)  # of a body without end as much is read as matters: its status was good

        async def left() -> bool:
            return there.active == 0

        await eventually(left, "the connection being closed")


async def test_a_delivery_is_given_up_after_a_day(there: Receiver) -> None:
    there.default, clock = status(500), FakeClock()
    async with world(ScriptedModel(Say("Hello.")), clock=clock, notify=[to(there)]) as here:
        await here.send()
        await there.has(1)

        async def given_up() -> bool:
            clock.move(600)
            return not await waiting(here)

        await eventually(given_up, "the delivery being given up")
        assert clock.now() - 1_800_000_000_000 >= 20 * 3600 * 1000
        assert b'notify_deliveries_total{outcome="dropped",target="0"} 1.0' in here.parts.kit.metrics.render()
    assert 20 < len(there.got) < 60


async def test_a_dead_target_holds_up_neither_runs_nor_other_targets(there: Receiver, tmp_path: Path) -> None:
    runs = 1_000
    async with receiver() as dead:
        dead.default = hangs
        model = ScriptedModel(*[Say("Hello.") for _ in range(runs)])
        config: dict[str, Any] = {"notify": [to(there), to(dead)], "server": {"queue": runs}}
        async with world(model, store=f"sqlite:///{tmp_path / 't.db'}", **config) as here:
            began = time.monotonic()
            before = len(asyncio.all_tasks())
            for number in range(runs):
                await here.send(session_id=f"s{number}")
            await there.has(runs, 55)
            await here.idle()
            took = time.monotonic() - began
            assert dead.most <= 4
            assert len(asyncio.all_tasks()) < before + 40

            async def only_those_of_the_dead() -> bool:
                return await waiting(here) == runs

            await eventually(only_those_of_the_dead, "the rest having gone")
    assert len({got.id for got in there.got}) == runs
    assert took < 55


async def test_what_waits_is_delivered_by_the_next_process(there: Receiver, tmp_path: Path) -> None:
    store, config = f"sqlite:///{tmp_path / 't.db'}", [to(there)]
    there.default = status(503)
    async with world(ScriptedModel(Say("Hello.")), store=store, notify=config) as here:
        await here.events(await here.send())
        await there.has(1)
    there.default, clock = status(204), FakeClock()
    clock.move(3600)
    async with world(store=store, clock=clock, notify=config) as here:
        await there.has(2)
        await delivered(here)
    assert there.got[0].id == there.got[1].id


async def test_a_deleted_session_does_not_take_its_end_along(there: Receiver) -> None:
    there.answers, clock = [status(500)], FakeClock()
    async with world(ScriptedModel(Say("Hello.")), clock=clock, notify=[to(there)]) as here:
        await here.events(await here.send())
        await there.has(1)
        await here.idle()
        await here.parts.deletion.delete(Principal(everyone=True), SESSION)
        await moved_until(clock, there, 2)
        await delivered(here)


async def test_secrets_of_the_run_are_masked_in_arguments(there: Receiver) -> None:
    @tool(approval=True)
    async def enter(text: str) -> str:
        """Enter a text."""
        return text

    model = ScriptedModel(Call("enter", {"text": "hunter2-hunter2"}), Say("."))
    async with world(model, tools=[enter], notify=[to(there, "approval_request")]) as here:
        await here.send(tool_context={"password": "hunter2-hunter2"})
        (got,) = await there.has(1)
    assert b"hunter2" not in got.body


@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        ("feishu", {"code": 0, "msg": "success"}, {"code": 19021, "msg": "sign match fail"}),
        ("dingtalk", {"errcode": 0, "errmsg": "ok"}, {"errcode": 310000, "errmsg": "sign not match"}),
        ("wecom", {"errcode": 0, "errmsg": "ok"}, {"errcode": 45009, "errmsg": "api freq out of limit"}),
    ],
)
async def test_a_refusal_in_a_good_answer_is_one(
    there: Receiver, kind: str, taken: dict[str, Any], refused: dict[str, Any]
) -> None:
    there.answers = [document(refused), status(200, "<html>"), document([]), document(taken)]
    clock = FakeClock()
    target = {"on": ["finish"], "url": f"{there.url}?key=k", "format": kind}
    async with world(ScriptedModel(Say("Hello.")), clock=clock, notify=[target]) as here:
        await here.send()
        await moved_until(clock, there, 4)
        await delivered(here)
    assert len(there.got) == 4


async def test_a_pace_is_kept_where_the_receiver_asks_for_one(there: Receiver) -> None:
    there.default, clock = document({"errcode": 0}), FakeClock()
    target = {"on": ["finish"], "url": there.url, "format": "wecom"}
    async with world(ScriptedModel(*[Say(".")] * 3), clock=clock, notify=[target]) as here:
        for number in range(3):
            await here.events(await here.send(session_id=f"s{number}"))
        await there.has(1)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(there.got) == 1
        clock.move(3)
        await there.has(2)
        clock.move(3)
        await there.has(3)


async def test_what_is_sent_is_counted_and_neither_address_nor_answer_is_logged(
    there: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    there.answers, clock = [status(403, "no access for token hidden-key")], FakeClock()
    target = to(there) | {"url": f"{there.url}?key=hidden-key", "secret": "hidden-secret"}
    async with world(ScriptedModel(Say("Hello.")), clock=clock, notify=[target]) as here:
        await here.send()
        await there.has(1)
        text = (await scrape(here.parts, 0)).decode()
        assert 'talaria_notify_waiting{target="0"} 1.0' in text
        await moved_until(clock, there, 2)
        await delivered(here)
        text = (await scrape(here.parts, 0)).decode()
    assert 'talaria_notify_deliveries_total{outcome="failed",target="0"} 1.0' in text
    assert 'talaria_notify_deliveries_total{outcome="delivered",target="0"} 1.0' in text
    assert 'talaria_notify_waiting{target="0"} 0.0' in text
    said = "".join(capsys.readouterr())
    assert "status 403" in said
    assert "hidden" not in said


async def moved_until(clock: FakeClock, there: Receiver, count: int) -> None:
    """Let time pass until so many requests have come."""

    async def come() -> bool:
        if len(there.got) < count:
            clock.move(1)
        return len(there.got) >= count

    await eventually(come, f"{count} requests")
