"""Cancelling: in an answer, in a tool, in line, while a person is asked."""

import asyncio

import pytest

from talaria import tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import ME, assert_valid_wire, bounded, end_of, soon, text_of, told, world


async def test_a_cancelled_answer_is_kept_as_far_as_it_went(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("Once upon a time", chunk=5, gate=gate), Say("Again."))
    async with world(model, store=store) as here:
        run_id = await here.send()
        await here.until(run_id, "token")
        await here.cancel(run_id)
        events = await here.events(run_id)
        assert (end_of(events), text_of(events)) == (("finish", "cancelled"), "Once upon a tim")
        assert (await here.messages())[-1]["incomplete"] is True
        assert end_of(await here.ask()) == ("finish", "stop")
    assert model.closed_early == 1


async def test_a_cancelled_call_has_its_answer_and_the_model_is_not_asked_again(store: str) -> None:
    shop, model = Shop(), ScriptedModel(Say(calls=(Call("slow_sell"), Call("sell", {"what": "x"}))), Say("Next."))
    async with world(model, tools=shop.tools, store=store) as here:
        run_id = await here.send()
        await bounded(shop.began.wait())
        await here.cancel(run_id)
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "cancelled")
        assert_valid_wire(await here.messages())
        results = [result.result for event in events for result in event.tool_results or ()]
        assert sorted(results) == [
            "Cancelled before it ran.",
            "Cancelled while it ran; it is not known whether it took effect.",
        ]
        assert shop.done == []
        assert len(model.requests) == 1
        assert end_of(await here.ask("Next")) == ("finish", "stop")


@pytest.mark.parametrize("times", [1, 2])
async def test_letters_that_come_while_a_cancelled_tool_cleans_up_do_no_harm(store: str, times: int) -> None:
    began, cleaning, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @tool(side_effects=False)
    async def tidy() -> str:
        """Clean up slowly."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await go_on.wait()
        return "never"

    model = ScriptedModel(Say(calls=(Call("tidy"),) * times), Say("Two."), Say("Other."))
    async with world(model, tools=[tidy], store=store) as here:
        first = await here.send("One")
        await bounded(began.wait())
        await here.cancel(first)
        await bounded(cleaning.wait())
        second = await here.send("Two")
        for _ in range(10):
            await asyncio.sleep(0)
        go_on.set()
        assert end_of(await here.events(first)) == ("finish", "cancelled")
        assert end_of(await here.events(second)) == ("finish", "stop")
        assert end_of(await here.ask("Elsewhere", session_id="other")) == ("finish", "stop")


async def test_a_run_is_cancelled_while_it_waits_for_a_person(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund"), Say("Next.")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
        await here.cancel(run_id)
        events = await here.events(run_id)
        assert told(events)[-3:] == [
            "approval_resolved cancelled",
            "tool_result refund: Not run: the run was cancelled.",
            "finish cancelled",
        ]
        assert await here.parts.lookup.approvals(ME) == []
        assert_valid_wire(await here.messages())
        assert end_of(await here.ask()) == ("finish", "stop")
    assert shop.done == []


async def test_a_run_in_line_is_cancelled_before_it_begins(store: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("First.", chunk=2, gate=gate), Say("Third."))
    async with world(model, store=store) as here:
        first = await here.send("One")
        await here.until(first, "token")
        second, third = await here.send("Two"), await here.send("Three")
        await here.cancel(second)
        gate.set()
        assert end_of(await here.events(first)) == ("finish", "stop")
        assert end_of(await here.events(second)) == ("finish", "cancelled")
        assert text_of(await here.events(third)) == "Third."
    model.check()


async def test_cancelling_what_is_over_or_twice_changes_nothing() -> None:
    gate = asyncio.Event()
    async with world(ScriptedModel(Say("Slow.", chunk=2, gate=gate), Say("Next."))) as here:
        run_id = await here.send()
        await here.until(run_id, "token")
        for _ in range(5):
            await here.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")
        await here.cancel(run_id)
        events = await here.ask()
        assert end_of(events) == ("finish", "stop")
        assert await here.store.inbox.waiting() == []


async def test_a_cancel_at_any_moment_leaves_a_valid_history(store: str) -> None:
    shop = Shop()
    calls = (Call("look"), Call("sell", {"what": "x"}), Call("sell", {"what": "y"}))
    model = ScriptedModel(script=lambda request: Say("So", chunk=1, calls=calls))
    async with world(model, tools=shop.tools, store=store) as here:
        for pause in range(40):
            run_id = await here.send()
            for _ in range(pause):
                await asyncio.sleep(0)
            await here.cancel(run_id)
            assert end_of(await here.events(run_id)) == ("finish", "cancelled")
            assert_valid_wire(await here.messages())
        await here.idle()
        await soon(lambda: not here.parts.engine.running, "rest")
