"""A deleted session is gone, whatever it was doing."""

import asyncio

import pytest

from talaria import Principal
from talaria.core.errors import NotFound
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import ME, SESSION, bounded, end_of, soon, world


async def test_a_deleted_session_is_gone_and_may_begin_anew(store: str) -> None:
    async with world(ScriptedModel(Say("One."), Say("New.")), store=store) as here:
        run_id = await here.send()
        await here.events(run_id)
        await here.idle()
        with pytest.raises(NotFound):
            await here.parts.deletion.delete(Principal(user="mallory"), SESSION)
        await here.parts.deletion.delete(ME, SESSION)
        with pytest.raises(NotFound):
            await here.messages()
        with pytest.raises(NotFound):
            await here.status(run_id)
        assert await here.store.journal.sessions() == []
        assert end_of(await here.ask()) == ("finish", "stop")
        assert len(await here.messages()) == 2


async def test_deleting_a_session_ends_what_runs_waits_and_stands_in_line(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("slow_sell")), tools=shop.tools, store=store) as here:
        first = await here.send(tool_context={"apiKey": "s3cret-value"})
        await bounded(shop.began.wait())
        second = await here.send(tool_context={"apiKey": "s3cret-value"})
        followers = [asyncio.create_task(here.events(run_id)) for run_id in (first, second)]
        await asyncio.sleep(0)
        await bounded(here.parts.deletion.delete(ME, SESSION))
        for follower in followers:
            assert end_of(await bounded(follower)) == ("finish", "cancelled")
        await here.idle()
        assert await here.store.journal.sessions() == []
        assert await here.store.inbox.waiting() == []
        assert len(here.parts.kit.secrets) == 0
    assert shop.done == []


async def test_deleting_a_session_that_waits_for_a_person_closes_the_question(store: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Call("refund")), tools=shop.tools, store=store) as here:
        run_id = await here.send()
        request_id = await here.question(run_id)
        await here.stands(run_id, "waiting_approval")
        await bounded(here.parts.deletion.delete(ME, SESSION))
        assert await here.parts.lookup.approvals(ME) == []
        with pytest.raises(NotFound):
            await here.decide(request_id)
    assert shop.done == []


async def test_deleting_a_session_that_waits_for_a_person_waits_for_a_place(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(Call("refund"), Call("slow_look"), Say("On."))
    async with world(model, tools=shop.tools, store=store, server={"maxRuns": 1}) as here:
        parked = await here.send()
        await here.stands(parked, "waiting_approval")
        running = await here.send(session_id="other")
        await bounded(shop.began.wait())
        deleting = asyncio.create_task(here.parts.deletion.delete(ME, SESSION))
        await soon(lambda: here.parts.engine.lined_up == 1, "the session standing in line")
        shop.go_on.set()
        await bounded(deleting)
        assert end_of(await here.events(running)) == ("finish", "stop")
        with pytest.raises(NotFound):
            await here.status(parked)


async def test_a_session_of_turns_without_memory_only_can_be_shown_and_deleted(store: str) -> None:
    model = ScriptedModel(script=lambda _: Say("Hi."))
    async with world(model, store=store) as here:
        runs = [await here.send(use_server_memory=False, assistant_id=assistant) for assistant in (None, None, "x")]
        for run_id in runs:
            await here.events(run_id)
        await here.idle()
        view = await here.parts.lookup.session(ME, SESSION)
        assert (view["sessionId"], view["messages"], view["turns"], view["title"]) == (SESSION, [], 2, "Go")
        assert (await here.parts.lookup.session(ME, SESSION, "x"))["turns"] == 1
        await here.parts.deletion.delete(ME, SESSION)
        await here.parts.deletion.delete(ME, SESSION, "x")
        assert await here.store.journal.sessions() == []
        with pytest.raises(NotFound):
            await here.parts.lookup.session(ME, SESSION)


async def test_deleting_a_session_ends_its_turns_without_memory_too(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(Say("One."), Call("slow_sell"))
    async with world(model, tools=shop.tools, store=store) as here:
        await here.ask()
        run_id = await here.send(use_server_memory=False)
        await bounded(shop.began.wait())
        follower = asyncio.create_task(here.events(run_id))
        await asyncio.sleep(0)
        await bounded(here.parts.deletion.delete(ME, SESSION))
        assert end_of(await bounded(follower)) == ("finish", "cancelled")
        await here.idle()
        assert await here.store.journal.sessions() == []
