"""Retention: old sessions go with everything that hangs on them, and nothing else does."""

from pathlib import Path
from typing import Any

import pytest

from talaria.core.errors import NotFound
from talaria.runtime import retention
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.polling import eventually
from tests.runtime.tools import Shop
from tests.runtime.world import ME, World, end_of, world

DAY = 86400
KEEP: dict[str, Any] = {"retention": 10 * DAY}


def says() -> ScriptedModel:
    return ScriptedModel(script=lambda _: Say("Yes."))


async def ended(here: World, session: str, **fields: Any) -> str:
    run_id = await here.send(session_id=session, **fields)
    assert end_of(await here.events(run_id)) == ("finish", "stop")
    await here.idle()
    return run_id


async def left(here: World, *sessions: str) -> None:
    """Wait until just the journals of these sessions are there."""

    async def probe() -> bool:
        return {path.split("/")[3] for path in await here.store.journal.sessions()} == set(sessions)

    await eventually(probe, f"{sessions} being all that is left")


async def test_old_sessions_go_and_young_ones_stay(store: str) -> None:
    async with world(says(), store=store, sessions=KEEP) as here:
        run_id = await ended(here, "old")
        await ended(here, "apart", use_server_memory=False)
        here.clock.move(5 * DAY)
        await ended(here, "young")
        here.clock.move(5 * DAY)
        await left(here, "young")
        with pytest.raises(NotFound):
            await here.status(run_id)
        assert [each["sessionId"] for each in (await here.parts.lookup.sessions(ME))["sessions"]] == ["young"]
        assert await here.store.inbox.turn(run_id) is None


async def test_a_turn_renews_what_a_session_is_kept_for(store: str) -> None:
    async with world(says(), store=store, sessions=KEEP) as here:
        await ended(here, "s")
        here.clock.move(9 * DAY)
        await ended(here, "s")
        here.clock.move(9 * DAY)
        assert await here.parts.retention.sweep()
        assert len(await here.messages("s")) == 4
        here.clock.move(DAY)
        await left(here)


async def test_a_younger_turn_without_memory_keeps_its_session(store: str) -> None:
    async with world(says(), store=store, sessions=KEEP) as here:
        await ended(here, "s")
        here.clock.move(9 * DAY)
        run_id = await ended(here, "s", use_server_memory=False)
        here.clock.move(9 * DAY)
        assert await here.parts.retention.sweep()
        assert await here.status(run_id) == "finished"
        here.clock.move(DAY)
        await left(here)


@pytest.mark.parametrize("memory", [True, False])
async def test_a_run_that_waits_for_a_person_keeps_its_session_whatever_its_age(store: str, *, memory: bool) -> None:
    shop, model = Shop(), ScriptedModel(Call("refund"), Say("Paid."))
    async with world(model, tools=shop.tools, store=store, sessions=KEEP, approval={"timeout": 99 * DAY}) as here:
        run_id = await here.send(session_id="s", use_server_memory=memory)
        await here.stands(run_id, "waiting_approval")
        here.clock.move(30 * DAY)
        assert await here.parts.retention.sweep()
        await here.decide(await here.question(run_id))
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        await here.idle()
        here.clock.move(10 * DAY)
        await left(here)
    assert shop.done == ["refund 1"]


async def test_what_a_process_did_not_come_to_the_next_one_does(sqlite: str, tmp_path: Path) -> None:
    clock, folder = FakeClock(), tmp_path / "transcripts"
    telemetry = {"transcripts": str(folder)}
    async with world(says(), store=sqlite, clock=clock, sessions=KEEP, telemetry=telemetry) as here:
        await ended(here, "old")
        await ended(here, "apart", use_server_memory=False)
    clock.move(5 * DAY)
    async with world(says(), store=sqlite, clock=clock, sessions=KEEP, telemetry=telemetry) as here:
        await ended(here, "young")
    clock.move(5 * DAY)
    async with world(says(), store=sqlite, clock=clock, sessions=KEEP, telemetry=telemetry) as here:
        await left(here, "young")
    assert {path.relative_to(folder).parts[3] for path in folder.rglob("*.json")} == {"young"}


async def test_a_sweep_is_bounded_and_what_must_stay_holds_nothing_up(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    shop = Shop()
    model = ScriptedModel(script=lambda _: Call("refund") if len(model.requests) <= 4 else Say("Yes."))
    async with world(model, tools=shop.tools, store=store, sessions=KEEP, approval={"timeout": 99 * DAY}) as here:
        for at in range(4):
            run_id = await here.send(session_id=f"waits-{at}")
            await here.stands(run_id, "waiting_approval")
        for at in range(7):
            await ended(here, f"old-{at}")
        here.clock.pass_unnoticed(20 * DAY)
        assert not await here.parts.retention.sweep()
        assert len(await here.store.journal.sessions()) == 8
        assert not await here.parts.retention.sweep()
        assert await here.parts.retention.sweep()
        await left(here, *(f"waits-{at}" for at in range(4)))


async def test_without_retention_nothing_goes(store: str) -> None:
    async with world(says(), store=store, sessions={"retention": None}) as here:
        await ended(here, "s")
        here.clock.move(10_000 * DAY)
        assert await here.parts.retention.sweep()
        assert len(await here.messages("s")) == 2
