"""Questions to people: asked, answered once, expired, superseded; what was approved is what runs."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Principal, tool
from talaria.core.errors import Conflict, InvalidRequest, NotFound
from talaria.core.messages import ToolMessage
from talaria.runtime.desk import Decision
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import (
    ME,
    World,
    assert_valid_wire,
    bounded,
    end_of,
    kinds,
    soon,
    told,
    world,
)


async def test_an_approved_call_runs_once_and_the_turn_goes_on(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund", {"amount": 7}), Say("Paid.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        assert here.parts.engine.running == 0
        first = await here.decide(request_id)
        assert await here.decide(request_id) == first
        events = await here.events(run_id)
        assert told(events) == snapshot(
            [
                "run_started",
                'tool_call refund{"amount":7}',
                'approval_request refund{"amount":7}',
                "approval_resolved approved",
                "tool_started refund",
                "tool_result refund: paid 7",
                "token Paid.",
                "finish stop",
            ]
        )
        assert await here.tales() == snapshot(
            [
                "ContextSet",
                "TurnStarted",
                "ModelFinished",
                "ApprovalRequested",
                "RunParked",
                "RunResumed",
                "ApprovalResolved",
                "ToolStarted",
                "ToolFinished",
                "ModelFinished",
                "RunFinished",
            ]
        )
        with pytest.raises(Conflict, match="approved before"):
            await here.decide(request_id, approve=False)
    assert shop.done == ["refund 7"]


async def test_edited_arguments_are_checked_recorded_told_and_what_runs(store: str) -> None:
    shop, model = Shop(), ScriptedModel(Call("refund", {"amount": 7}), Say("Paid."))
    async with world(model, tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        with pytest.raises(InvalidRequest):
            await here.decide(request_id, arguments={"amount": "much"})
        with pytest.raises(InvalidRequest):
            await here.decide(request_id, approve=False, arguments={"amount": 1})
        view = await here.decide(request_id, arguments={"amount": 3}, comment="less")
        assert (view["decision"], view["arguments"], view["comment"]) == ("edited", {"amount": 3}, "less")
        with pytest.raises(Conflict):
            await here.decide(request_id, arguments={"amount": 4})
        with pytest.raises(Conflict):
            await here.decide(request_id)
        assert "approval_resolved edited" in told(await here.events(run_id))
    assert shop.done == ["refund 3"]
    result = model.prompts[-1][-1]
    assert isinstance(result, ToolMessage)
    note = '[A person changed the arguments before this ran, to {"amount":3}. They said: less]'
    assert result.text.startswith(note)


async def test_a_declined_call_does_not_run_and_the_model_hears_why(store: str) -> None:
    shop, model = Shop(), ScriptedModel(Call("refund"), Say("Then not."))
    async with world(model, tools=shop.tools, store=store) as here:
        run_id = await here.send()
        await here.decide(await here.question(run_id), approve=False, comment="too much")
        events = await here.events(run_id)
        assert told(events)[3:5] == snapshot(
            [
                "approval_resolved declined",
                "tool_result refund: Not run: a person declined this call. They said: too much",
            ]
        )
        assert end_of(events) == ("finish", "stop")
    assert shop.done == []


async def test_a_question_expires_at_its_deadline_and_not_before(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("Nobody.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        here.clock.move(299)
        for _ in range(20):
            await asyncio.sleep(0)
        assert await here.status(run_id) == "waiting_approval"
        here.clock.move(1)
        events = await here.events(run_id)
        assert told(events)[3:5] == snapshot(
            [
                "approval_resolved expired",
                "tool_result refund: Not run: approval timed out, nobody decided in time.",
            ]
        )
        with pytest.raises(Conflict, match="expired"):
            await here.decide(request_id)
    assert shop.done == []


async def test_a_deadline_that_passes_while_the_owner_lets_go_is_not_missed() -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("Nobody.")), tools=shop.tools) as here:
        parked, go_on, release = asyncio.Event(), asyncio.Event(), here.store.leases.release

        async def slowly(session: str, epoch: int) -> None:
            parked.set()
            await go_on.wait()
            await release(session, epoch)

        here.store.leases.release = slowly
        run_id = await here.send()
        await bounded(parked.wait())
        here.clock.move(300)
        for _ in range(20):
            await asyncio.sleep(0)
        go_on.set()
        assert "approval_resolved expired" in told(await here.events(run_id))


async def test_of_twenty_decisions_at_once_the_first_is_in_force(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("On.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        asked = [here.decide(request_id, approve=bool(at % 2)) for at in range(20)]
        answers: list[Any] = await bounded(asyncio.gather(*asked, return_exceptions=True))
        accepted: list[Any] = [answer for answer in answers if isinstance(answer, dict)]
        refused = [answer for answer in answers if isinstance(answer, Conflict)]
        assert len(accepted) == len(refused) == 10
        assert len({str(answer) for answer in (*accepted, *(each.current for each in refused))}) == 1
        events = await here.events(run_id)
        assert kinds(events).count("approval_resolved") == 1
        assert shop.done == (["refund 1"] if accepted[0]["decision"] == "approved" else [])


@pytest.mark.parametrize("moves", ["before", "after"])
async def test_at_the_moment_of_expiry_one_decision_is_in_force(store: str, moves: str) -> None:
    shop = Shop()
    model = ScriptedModel(script=lambda request: Say("On.") if _has_result(request) else Call("refund"))
    async with world(model, tools=shop.tools, store=store) as here:
        for turn in range(100):
            before = len(shop.done)
            session = f"s-{turn % 10}"
            run_id = await here.send(session_id=session)
            request_id = await here.question(run_id)
            if turn % 2:
                await here.stands(run_id, "waiting_approval")
            if moves == "before":
                here.clock.move(300)
                answer = await _try(here.decide(request_id))
            else:
                deciding = asyncio.create_task(_try(here.decide(request_id)))
                for _ in range(turn % 7):
                    await asyncio.sleep(0)
                here.clock.move(300)
                answer = await bounded(deciding)
            events = await here.events(run_id)
            (resolved,) = [event.reason for event in events if event.type == "approval_resolved"]
            assert len(shop.done) - before == (resolved == "approved")
            assert (answer["decision"] if isinstance(answer, dict) else answer) == resolved
            assert end_of(events) == ("finish", "stop")


def _has_result(request: Any) -> bool:
    return type(request.prompt.messages[-1]).__name__ == "ToolMessage"


async def _try(decision: Any) -> Any:
    try:
        return await decision
    except Conflict as conflict:
        return (conflict.current)["decision"]


async def test_a_new_message_takes_the_place_of_a_turn_that_waits_for_a_person(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("New.")), tools=shop.tools, store=store) as here:
        first = await here.send("Pay")
        request_id = await here.question(first)
        await here.stands(first, "waiting_approval")
        second = await here.send("Never mind")
        assert told(await here.events(first))[3:] == snapshot(
            [
                "approval_resolved superseded",
                "tool_result refund: Not run: the user sent a new message while this call waited for approval.",
                "finish cancelled",
            ]
        )
        assert end_of(await here.events(second)) == ("finish", "stop")
        with pytest.raises(Conflict, match="superseded"):
            await here.decide(request_id)
        assert_valid_wire(await here.messages())
    assert shop.done == []


async def test_a_waiting_call_holds_back_only_those_with_side_effects_behind_it(store: str) -> None:
    shop = Shop()
    calls = (Call("sell", {"what": "a"}), Call("refund"), Call("look"), Call("sell", {"what": "b"}))
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        assert sorted(shop.done) == ["look shelf", "sell a"]
        await here.decide(request_id)
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert_valid_wire(await here.messages())
    assert sorted(shop.done[:2]) == ["look shelf", "sell a"]
    assert shop.done[2:] == ["refund 1", "sell b"]


async def test_all_questions_of_a_round_are_asked_at_once_and_answered_in_any_order(store: str) -> None:
    shop = Shop()
    calls = (Call("refund", {"amount": 1}), Call("refund", {"amount": 2}), Call("refund", {"amount": 3}))
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        asked = {item["toolCalls"][0]["arguments"]: item["requestId"] for item in await here.parts.lookup.approvals(ME)}
        assert len(asked) == 3
        await here.decide(asked['{"amount":3}'])
        await here.stands(run_id, "waiting_approval")
        await here.decide(asked['{"amount":1}'], approve=False)
        await here.stands(run_id, "waiting_approval")
        assert shop.done == []
        await here.decide(asked['{"amount":2}'])
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert_valid_wire(await here.messages())
    assert shop.done == ["refund 2", "refund 3"]


async def test_an_approved_call_starts_while_a_slow_safe_one_still_runs(store: str) -> None:
    shop = Shop()
    calls = (Call("refund"), Call("slow_look"))
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        await bounded(shop.began.wait())
        await here.decide(await here.question(run_id))
        await soon(lambda: shop.done == ["refund 1"], "the refund")
        shop.go_on.set()
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "stop")
        assert "RunParked" not in await here.tales()
    assert shop.done == ["refund 1", "slow_look"]


async def test_a_remembered_consent_holds_for_the_session_only() -> None:
    shop = Shop()
    model = ScriptedModel(Call("refund"), Say("1"), Call("refund"), Say("2"), Call("refund"), Say("3"))
    async with world(model, tools=shop.tools) as here:
        run_id = await here.send()
        await here.decide(await here.question(run_id), remember=True)
        await here.events(run_id)
        assert "approval_request" not in kinds(await here.ask())
        other = await here.send(session_id="other")
        await here.decide(await here.question(other))
        assert end_of(await here.events(other)) == ("finish", "stop")


async def test_a_rule_decides_which_calls_are_asked_for_and_a_broken_rule_asks() -> None:
    @tool(approval=lambda values: values["amount"] > 100)
    async def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    @tool(approval=lambda values: values["nothing"])
    async def odd(amount: int) -> str:
        """Be odd."""
        return f"odd {amount}"

    calls = (Call("pay", {"amount": 5}), Call("pay", {"amount": 500}), Call("odd", {"amount": 1}))
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=[pay, odd]) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        asked = [item["toolCalls"][0]["arguments"] for item in await here.parts.lookup.approvals(ME)]
    assert sorted(asked) == ['{"amount":1}', '{"amount":500}']


async def test_the_configuration_can_ask_for_any_tool() -> None:
    config: dict[str, Any] = {"approval": {"requiredTools": ["sell"], "timeout": 5}}
    async with world(ScriptedModel(Call("sell", {"what": "x"})), tools=Shop().tools, **config) as here:
        event = await here.until(await here.send(), "approval_request")
        assert event.expires_at == "2027-01-15T08:00:05.000Z"


async def test_anothers_question_does_not_exist() -> None:
    async with world(ScriptedModel(Call("refund")), tools=Shop().tools) as here:
        request_id = await here.question(await here.send())
        for principal in (Principal(user="mallory"), Principal(tenant="other")):
            with pytest.raises(NotFound):
                await here.parts.desk.decide(principal, Decision(request_id, approve=True))
        with pytest.raises(NotFound):
            await here.decide("ask_none")


async def test_time_that_passes_while_a_person_is_asked_is_not_the_runs_time() -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("On.")), tools=shop.tools, approval={"timeout": 5000}) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        here.clock.move(4000)
        await here.decide(request_id)
        assert end_of(await here.events(run_id)) == ("finish", "stop")


async def test_a_decision_that_comes_as_the_run_parks_is_not_missed(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(script=lambda request: Say("On.") if _has_result(request) else Call("refund"))

    async def once(here: World, turn: int) -> None:
        run_id = await here.send(session_id=f"s-{turn}")
        request_id = await here.question(run_id)
        for _ in range(turn % 13):
            await asyncio.sleep(0)
        await here.decide(request_id)
        assert end_of(await here.events(run_id)) == ("finish", "stop")

    async with world(model, tools=shop.tools, store=store) as here:
        for turn in range(60):
            await once(here, turn)
        assert len(shop.done) == 60


async def test_a_program_decides_and_cancels_through_its_runtime() -> None:
    shop = Shop()
    model = ScriptedModel(*(Call("refund", {"amount": amount}) for amount in (7, 8, 9)))
    async with world(model, tools=shop.tools) as here:
        run_id, asked = await here.send(), 0
        async for event in here.follow(run_id):
            if event.type != "approval_request":
                continue
            asked, request_id = asked + 1, str(event.data)
            if asked == 1:
                assert (await here.runtime.approve(request_id, arguments={"amount": 3}))["decision"] == "edited"
            elif asked == 2:
                assert (await here.runtime.decline(request_id, comment="too much"))["decision"] == "declined"
            else:
                with pytest.raises(NotFound):
                    await here.runtime.approve(request_id, principal=Principal("acme", "eve"))
                await here.runtime.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")
    assert shop.done == ["refund 3"]
