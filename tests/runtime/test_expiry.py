"""Sessions that are over: what was said in them is neither shown nor used, and a new turn begins anew."""

from typing import Any

import pytest

from talaria import Principal
from talaria.core.errors import NotFound
from talaria.core.messages import Text, UserMessage
from talaria.journal.rebuild import rebuild_index
from talaria.runtime.expiry import Expiry
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import ME, SESSION, World, end_of, world

HALF_AN_HOUR: dict[str, Any] = {"idleTtl": 1800, "absoluteTtl": 86400}


def questions(model: ScriptedModel) -> list[str]:
    """What the user said, in the last request."""
    messages = [message for message in model.requests[-1].prompt.messages if isinstance(message, UserMessage)]
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


async def assert_gone(here: World, run_id: str) -> None:
    """Nothing of a run or its session is shown."""
    with pytest.raises(NotFound):
        await here.parts.lookup.session(ME, SESSION)
    with pytest.raises(NotFound):
        await here.runtime.session(SESSION)
    with pytest.raises(NotFound):
        await here.status(run_id)
    with pytest.raises(NotFound):
        await here.events(run_id)
    assert (await here.parts.lookup.sessions(ME))["sessions"] == []


async def ended(here: World, query: str, **fields: Any) -> str:
    """Run a turn to its end, and wait until its session rests; return the run."""
    run_id = await here.send(query, **fields)
    assert end_of(await here.events(run_id)) == ("finish", "stop")
    await here.idle()
    return run_id


async def test_a_session_without_a_turn_for_so_long_is_over_and_begins_anew(store: str) -> None:
    model = ScriptedModel(script=lambda _: Say("Yes."))
    async with world(model, store=store, sessions=HALF_AN_HOUR) as here:
        first = await ended(here, "One")
        here.clock.move(1799)
        second = await ended(here, "Two")
        assert questions(model) == ["One", "Two"]
        here.clock.move(1800)
        await assert_gone(here, first)
        await assert_gone(here, second)
        third = await ended(here, "Three")
        assert questions(model) == ["Three"]
        view = await here.parts.lookup.session(ME, SESSION)
        assert (view["title"], view["turns"], len(view["messages"])) == ("Three", 1, 2)
        assert await here.status(third) == "finished"
        for old in (first, second):
            with pytest.raises(NotFound):
                await here.status(old)
            with pytest.raises(NotFound):
                await here.cancel(old)


async def test_a_session_that_began_so_long_ago_is_over_however_busy_it_is(store: str) -> None:
    model = ScriptedModel(script=lambda _: Say("Yes."))
    async with world(model, store=store, sessions={"absoluteTtl": 3600}) as here:
        run_id = ""
        for minute in (0, 15, 30, 45):
            run_id = await ended(here, f"At {minute}")
            here.clock.move(900)
        await assert_gone(here, run_id)
        await ended(here, "Later")
        assert questions(model) == ["Later"]
        here.clock.move(3599)
        await ended(here, "Still")
        assert questions(model) == ["Later", "Still"]


async def test_a_run_that_waits_for_a_person_keeps_its_session(store: str) -> None:
    shop, model = Shop(), ScriptedModel(Call("refund"), Say("Paid."), Say("New."))
    approval = {"timeout": 100_000}
    async with world(model, tools=shop.tools, store=store, sessions=HALF_AN_HOUR, approval=approval) as here:
        run_id = await here.send("Refund it")
        await here.stands(run_id, "waiting_approval")
        here.clock.move(90_000)
        assert len((await here.parts.lookup.sessions(ME))["sessions"]) == 1
        assert (await here.parts.lookup.session(ME, SESSION))["activeRun"] == run_id
        request_id = await here.question(run_id)
        await here.decide(request_id)
        events = await here.events(run_id)
        assert end_of(events) == ("finish", "stop")
        await here.idle()
        await assert_gone(here, run_id)  # it began too long ago
        with pytest.raises(NotFound):
            await here.decide(request_id)
        await ended(here, "Again")
        assert questions(model) == ["Again"]
    assert shop.done == ["refund 1"]


async def test_it_is_the_same_in_the_next_process_and_for_an_index_made_anew(sqlite: str) -> None:
    clock, model = FakeClock(), ScriptedModel(script=lambda _: Say("Yes."))
    async with world(model, store=sqlite, clock=clock, sessions=HALF_AN_HOUR) as here:
        first = await ended(here, "One")
    clock.move(1800)
    async with world(model, store=sqlite, clock=clock, sessions=HALF_AN_HOUR) as here:
        await assert_gone(here, first)
        second = await ended(here, "Two")
        assert questions(model) == ["Two"]
    clock.move(1000)
    async with world(model, store=sqlite, clock=clock, sessions=HALF_AN_HOUR) as here:
        await rebuild_index(here.store.journal, here.store.index, here.store.blobs)
        with pytest.raises(NotFound):
            await here.status(first)
        assert await here.status(second) == "finished"
        assert len(await here.messages()) == 2
        await ended(here, "Three")
        assert questions(model) == ["Two", "Three"]
        assert (await here.tales()).count("SessionExpired") == 1


async def test_an_expired_turn_without_memory_is_gone_too(store: str) -> None:
    async with world(ScriptedModel(script=lambda _: Say("Yes.")), store=store, sessions=HALF_AN_HOUR) as here:
        old = await ended(here, "One")
        here.clock.move(1800)
        young = await ended(here, "Two", use_server_memory=False)
        with pytest.raises(NotFound):
            await here.status(old)
        assert await here.status(young) == "finished"
        view = await here.parts.lookup.session(ME, SESSION)
        assert (view["turns"], view["messages"]) == (1, [])
        here.clock.move(1800)
        await assert_gone(here, young)


async def test_a_key_that_led_to_an_expired_run_starts_nothing_and_shows_nothing(store: str) -> None:
    async with world(ScriptedModel(Say("Yes.")), store=store, sessions=HALF_AN_HOUR) as here:
        run_id = await ended(here, "One", idempotency_key="once")
        here.clock.move(1800)
        again = await here.submit("One", idempotency_key="once")
        assert (again.run_id, again.is_new) == (run_id, False)
        with pytest.raises(NotFound):
            await here.parts.lookup.place(ME, again.run_id)


async def test_who_owns_an_expired_session_can_still_delete_it(store: str) -> None:
    async with world(ScriptedModel(Say("Yes.")), store=store, sessions=HALF_AN_HOUR) as here:
        await ended(here, "One")
        here.clock.move(1800)
        with pytest.raises(NotFound):
            await here.parts.deletion.delete(Principal(user="mallory"), SESSION)
        await here.parts.deletion.delete(ME, SESSION)
        assert await here.store.journal.sessions() == []


@pytest.mark.parametrize(
    ("expiry", "created", "last", "now", "is_over"),
    [
        (Expiry(), 0, 0, 10**12, False),
        (Expiry(idle=10), 0, 5, 14, False),
        (Expiry(idle=10), 0, 5, 15, True),
        (Expiry(absolute=10), 5, 14, 14, False),
        (Expiry(absolute=10), 5, 14, 15, True),
        (Expiry(idle=10, absolute=100), 0, 99, 100, True),
    ],
)
def test_the_limits_are_exact(expiry: Expiry, created: int, last: int, now: int, is_over: bool) -> None:
    assert expiry.is_over(created, last, now) is is_over
