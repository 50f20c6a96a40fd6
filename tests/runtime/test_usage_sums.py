"""Days of usage that are summed up while runs are at work."""

import asyncio
from typing import Any

import pytest

from talaria import Principal
from talaria.core.usage import Usage
from talaria.journal.index import USAGE
from talaria.ports.journal import Put
from talaria.runtime.usage_rows import summed_until
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import World, end_of, world

DAY = 86_400


async def total(here: World) -> dict[str, Any]:
    (found,) = (await here.parts.usage.usage(Principal(), ()))["usage"]
    return found


async def test_what_a_run_used_before_its_server_was_down_for_days_is_not_lost(sqlite: str) -> None:
    shop, clock, gate = Shop(), FakeClock(), asyncio.Event()
    model = ScriptedModel(Say(calls=(Call("look"),), usage=Usage(3_000, 500)), Say("Hm.", chunk=1, gate=gate))
    async with world(model, store=sqlite, clock=clock, tools=shop.tools) as here:
        run_id = await here.send()
        await model.wait_until(lambda: len(model.requests) == 2)
        await here.stands(run_id, "running")
    clock.move(3 * DAY)
    gate = asyncio.Event()
    model = ScriptedModel(Say("Done.", usage=Usage(100, 10), chunk=1, gate=gate))
    async with world(model, store=sqlite, clock=clock, tools=shop.tools) as here:
        await model.wait_until(lambda: len(model.requests) == 1)
        await here.parts.usage_sums.sweep()
        gate.set()
        assert end_of(await here.events(run_id)) == ("finish", "stop")
        assert (await total(here))["inputTokens"] == 3_100
        await here.parts.usage_sums.sweep()
        assert (await total(here))["inputTokens"] == 3_100
        assert await here.store.index.find(USAGE, before=(clock.now() - 2 * DAY * 1000, "")) == []


async def test_rows_that_come_once_more_while_days_are_summed_up_do_not_set_the_mark_back(
    monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    async with world(ScriptedModel(script=lambda _: Say("Yes.", usage=Usage(100, 10))), store=store) as here:
        await here.ask()
        (again,) = await here.store.index.find(USAGE)
        here.clock.pass_unnoticed(DAY)
        await here.ask()
        here.clock.pass_unnoticed(3 * DAY)
        before = await total(here)
        index = here.store.index
        await here.parts.usage_sums.sweep()
        assert await total(here) == before
        mark = await summed_until(index)
        due = index.due

        async def due_after_a_late_row(kind: str, at: int, limit: int = 1_000) -> list[Put]:
            found = await due(kind, at, limit)
            if kind == USAGE and not found:
                monkeypatch.setattr(index, "due", due)
                await index.put([again])  # right after the void rows were dropped
            return found

        monkeypatch.setattr(index, "due", due_after_a_late_row)
        await here.parts.usage_sums.sweep()
        assert await summed_until(index) == mark
        assert await total(here) == before
