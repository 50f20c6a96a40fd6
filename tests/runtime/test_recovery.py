"""What survives a stop, a crash and a restart: everything on record, nothing twice."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, Tool, tool
from talaria.core.errors import InternalError
from talaria.journal.entries import RunFinished, ToolFinished
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import ME, assert_valid_wire, bounded, end_of, kinds, soon, text_of, told, world


async def test_a_question_is_answered_after_a_restart(sqlite: str) -> None:
    shop, clock = Shop(), FakeClock()
    async with world(ScriptedModel(Call("refund")), tools=shop.tools, store=sqlite, clock=clock) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
    async with world(ScriptedModel(Say("Paid.")), tools=shop.tools, store=sqlite, clock=clock) as here:
        assert await here.status(run_id) == "waiting_approval"
        (item,) = await here.parts.lookup.approvals(ME)
        assert item["requestId"] == request_id
        await here.decide(request_id)
        assert end_of(await here.events(run_id)) == ("finish", "stop")
    assert shop.done == ["refund 1"]


async def test_a_question_whose_time_ran_out_while_nobody_was_there_has_expired(sqlite: str) -> None:
    shop, clock = Shop(), FakeClock()
    async with world(ScriptedModel(Call("refund")), tools=shop.tools, store=sqlite, clock=clock) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
    clock.move(1000)
    async with world(ScriptedModel(Say("Nobody.")), tools=shop.tools, store=sqlite, clock=clock) as here:
        events = await here.events(run_id)
        assert "approval_resolved expired" in told(events)
        assert end_of(events) == ("finish", "stop")
    assert shop.done == []


async def test_a_later_question_expires_in_the_next_process(sqlite: str) -> None:
    shop, clock = Shop(), FakeClock()
    async with world(ScriptedModel(Call("refund")), tools=shop.tools, store=sqlite, clock=clock) as here:
        run_id = await here.send()
        await here.stands(run_id, "waiting_approval")
    async with world(ScriptedModel(Say("Nobody.")), tools=shop.tools, store=sqlite, clock=clock) as here:
        follower = asyncio.create_task(here.events(run_id))
        clock.move(300)
        assert "approval_resolved expired" in told(await bounded(follower))


async def test_an_answer_that_a_stop_cut_off_is_said_again_in_the_next_process(sqlite: str) -> None:
    gate, clock = asyncio.Event(), FakeClock()
    async with world(ScriptedModel(Say("One two", chunk=4, gate=gate)), store=sqlite, clock=clock) as here:
        run_id = await here.send()
        await here.until(run_id, "token")
    clock.move(10_000)  # longer than a run may run, but it did not
    async with world(ScriptedModel(Say("One two three")), store=sqlite, clock=clock) as here:
        events = await here.events(run_id)
        assert text_of(events) == "One two three"
        assert kinds(events) == ["run_started", "token", "finish"]
        assert (await here.tales())[2:4] == ["RunResumed", "ModelFinished"]


async def test_a_tool_that_keeps_a_cancel_to_itself_does_not_hold_up_the_stop(sqlite: str) -> None:
    began = asyncio.Event()

    @tool(side_effects=False)
    async def stubborn() -> str:
        """Wait, and take being cancelled for an answer."""
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "cleaned up"
        return "never"

    model = ScriptedModel(Call("stubborn"))
    async with world(model, tools=[stubborn], store=sqlite) as here:
        run_id = await here.send()
        await bounded(began.wait())
    assert len(model.requests) == 1
    async with world(ScriptedModel(Say("On.")), tools=[stubborn], store=sqlite) as here:
        assert end_of(await here.events(run_id)) == ("finish", "stop")


async def stopped_in(tool_: Tool[..., Any], shop: Shop, store: str) -> str:
    """Stop a runtime while a tool runs; return the run's id."""
    async with world(ScriptedModel(Call(tool_.name)), tools=[tool_], store=store) as here:
        run_id = await here.send()
        await bounded(shop.began.wait())
    assert shop.done == []
    shop.go_on.set()
    return run_id


async def test_a_call_that_began_before_a_stop_is_not_run_again_and_the_model_is_told(sqlite: str) -> None:
    shop = Shop()
    slow_sell = shop.slow_sell
    run_id = await stopped_in(slow_sell, shop, sqlite)
    model = ScriptedModel(Say("I shall look."))
    async with world(model, tools=[slow_sell], store=sqlite) as here:
        events = await here.events(run_id)
        assert [line[:90] for line in told(events)[2:]] == snapshot(
            [
                "tool_started slow_sell",
                "tool_result slow_sell: It is not known whether this call took effect: the system restarted",
                "token I shall look.",
                "finish stop",
            ]
        )
        assert_valid_wire(await here.messages())
    assert shop.done == []


async def test_a_call_without_side_effects_is_run_again_with_the_same_key(sqlite: str) -> None:
    shop = Shop()
    keys: list[str] = []

    @tool(idempotent=True)
    async def pay(ctx: Any = None) -> str:
        """Pay."""
        keys.append("called")
        shop.began.set()
        await shop.go_on.wait()
        shop.done.append("paid")
        return "paid"

    run_id = await stopped_in(pay, shop, sqlite)
    async with world(ScriptedModel(Say("Paid.")), tools=[pay], store=sqlite) as here:
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert (await here.tales()).count("ToolFinished") == 1
    assert (shop.done, keys) == (["paid"], ["called", "called"])


async def test_the_key_of_a_call_is_the_same_in_the_next_process(sqlite: str) -> None:
    shop = Shop()
    slow_sell = Tool("slow_sell", "Sell.", {"type": "object"}, shop.slow_sell.fn, idempotent=True)
    run_id = await stopped_in(slow_sell, shop, sqlite)
    async with world(ScriptedModel(Say("Sold.")), tools=[slow_sell], store=sqlite) as here:
        assert end_of(await here.events(run_id)) == ("finish", "stop")
    assert len(shop.keys) == 2
    assert len(set(shop.keys)) == 1


@pytest.mark.parametrize("approve", [True, False])
async def test_a_person_is_asked_whether_to_run_a_call_again_where_the_tool_says_so(sqlite: str, approve: bool) -> None:
    shop = Shop()
    ask = Tool("slow_sell", "Sell.", {"type": "object"}, shop.slow_sell.fn, unknown_outcome="ask")
    run_id = await stopped_in(ask, shop, sqlite)
    async with world(ScriptedModel(Say("So be it.")), tools=[ask], store=sqlite) as here:
        await here.stands(run_id, "waiting_approval")
        (item,) = await here.parts.lookup.approvals(ME)
        assert item["reason"] == "outcome_unknown"
        await here.decide(item["requestId"], approve=approve, **({"remember": True} if approve else {}))
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "stop")
        results = [result.result for event in events for result in event.tool_results or ()]
        assert results == [
            "sold slowly"
            if approve
            else "It is not known whether this call took effect before a restart, and it was not run again."
        ]
        assert_valid_wire(await here.messages())
    assert shop.done == (["slow_sell"] if approve else [])


async def test_an_approved_call_that_a_stop_cut_off_is_not_approved_again_nor_run_again(sqlite: str) -> None:
    shop = Shop()
    risky = Tool("slow_sell", "Sell.", {"type": "object"}, shop.slow_sell.fn, approval=True)
    async with world(ScriptedModel(Call("slow_sell")), tools=[risky], store=sqlite) as here:
        run_id = await here.send()
        await here.decide(await here.question(run_id))
        await bounded(shop.began.wait())
    shop.go_on.set()
    async with world(ScriptedModel(Say("Unknown.")), tools=[risky], store=sqlite) as here:
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "stop")
        assert kinds(events).count("approval_request") == 1
    assert shop.done == []


async def test_a_turn_in_line_runs_in_the_next_process_even_if_its_agent_has_gone(sqlite: str) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=sqlite, agents=[Agent("gone"), Agent("stays")]) as here:
        first = await here.send(agent="stays")
        await here.until(first, "token")
        second = await here.send(agent="gone")
        third = await here.send(agent="stays")
    async with world(ScriptedModel(Say("One."), Say("Three.")), store=sqlite, agents=[Agent("stays")]) as here:
        assert text_of(await here.events(first)) == "One."
        assert end_of(await here.events(second)) == ("error", "invalid_request")
        assert text_of(await here.events(third)) == "Three."


async def test_secrets_are_lost_with_their_process(sqlite: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund")), tools=shop.tools, store=sqlite) as here:
        run_id = await here.send(tool_context={"apiKey": "s3cret-value"})
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
    async with world(ScriptedModel(Say("Next.")), tools=shop.tools, store=sqlite) as here:
        await here.decide(request_id)
        events = await here.events(run_id)
        assert end_of(events) == ("error", "secrets_lost")
        assert "apiKey" in str(events[-1].data)
        assert_valid_wire(await here.messages())
        assert await here.parts.lookup.approvals(ME) == []
        assert end_of(await here.ask()) == ("finish", "stop")
    assert shop.done == []


async def test_a_graceful_stop_lets_a_run_end(sqlite: str) -> None:
    gate = asyncio.Event()
    async with world(ScriptedModel(Say("Slow.", gate=gate, chunk=2)), store=sqlite) as here:
        run_id = await here.send()
        await here.until(run_id, "token")
        closing = asyncio.create_task(here.runtime.close(5))
        await soon(lambda: here.parts.engine.is_stopping, "the stop")
        gate.set()
        await bounded(closing)
    async with world(store=sqlite) as here:
        assert text_of(await here.events(run_id)) == "Slow."


async def test_whoever_waits_for_a_run_is_told_when_the_runtime_closes(sqlite: str) -> None:
    gate, agent = asyncio.Event(), Agent("a")
    async with world(ScriptedModel(Say("Slow.", gate=gate, chunk=2)), store=sqlite) as here:

        async def stream() -> list[str]:
            return [event.type async for event in here.runtime.stream(agent, "Go", session="s")]

        streaming = asyncio.create_task(stream())
        await soon(lambda: here.parts.engine.running == 1, "the run")
        waiting = asyncio.create_task(here.runtime.run(agent, "Go", session="s"))
        await soon(lambda: len(here.parts.kit.outcomes) == 1, "the waiter")
    for task in (streaming, waiting):
        with pytest.raises(InternalError, match="resumes when it is opened again"):
            await bounded(task)


async def test_sessions_that_were_at_work_are_taken_up_within_the_places_there_are(sqlite: str) -> None:
    gate = asyncio.Event()
    many = 30
    model = ScriptedModel(script=lambda _: Say("Slow.", gate=gate, chunk=2))
    async with world(model, store=sqlite) as here:
        runs = [await here.send(session_id=f"s-{at}") for at in range(many)]
        for run_id in runs:
            await here.until(run_id, "token")
    async with world(ScriptedModel(script=lambda _: Say("Done.")), store=sqlite, server={"maxRuns": 3}) as here:
        for run_id in runs:
            assert text_of(await here.events(run_id)) == "Done."


async def test_a_run_that_was_stopped_at_any_moment_ends_well_in_the_next_process(sqlite: str) -> None:
    shop = Shop()
    model = ScriptedModel(script=_next)
    runs: list[str] = []
    for pause in range(0, 60, 3):
        async with world(model, tools=shop.tools, store=sqlite) as here:
            runs.append(await here.send(session_id=f"s-{pause}"))
            for _ in range(pause):
                await asyncio.sleep(0.0005 if pause % 2 else 0)
    async with world(model, tools=shop.tools, store=sqlite) as here:
        for at, run_id in enumerate(runs):
            assert end_of(await here.events(run_id)) == ("finish", "stop")
            session = f"s-{at * 3}"
            assert_valid_wire(await here.messages(session))
            finished = [entry for entry in await here.entries(session) if isinstance(entry, ToolFinished)]
            assert len(finished) == len({entry.call_id for entry in finished})
            assert [type(entry) for entry in await here.entries(session)].count(RunFinished) == 1
    assert len(shop.done) <= 2 * len(runs)


def _next(request: Any) -> Say:
    results = [message for message in request.prompt.messages if type(message).__name__ == "ToolMessage"]
    return Say(calls=(Call("sell", {"what": str(len(results))}),)) if len(results) < 2 else Say("Done.")
