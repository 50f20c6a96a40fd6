"""A call that failed is made again where its tool says so, and the model is told the last error."""

import asyncio
from importlib import import_module
from typing import Any

import pytest

from talaria import StopRun, ToolContext, tool
from talaria.core.errors import InvalidRequest
from talaria.journal.entries import ToolStarted
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import Tool
from talaria.tools.stages.retry import LONGEST, backoff
from tests.runtime.world import World, end_of, soon, world

PATIENT = {"runTimeout": 1_000_000}
"""These tests let time pass quickly."""


class Flaky:
    """Raises these errors, then works."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.keys: list[str] = []

    def answer(self, ctx: ToolContext) -> str:
        self.keys.append(ctx.idempotency_key)
        if self.errors:
            raise self.errors.pop(0)
        return "worked"

    def on_loop(self, **options: Any) -> Tool[..., Any]:
        @tool(idempotent=True, **options)
        async def flaky(ctx: ToolContext) -> str:
            """Work sometimes."""
            return self.answer(ctx)

        return flaky

    def on_thread(self, **options: Any) -> Tool[..., Any]:
        @tool(side_effects=False, **options)
        def flaky(ctx: ToolContext) -> str:
            """Work sometimes."""
            return self.answer(ctx)

        return flaky


def model() -> ScriptedModel:
    return ScriptedModel(Call("flaky"), Say("On."))


async def result(here: World, run_id: str, clock: FakeClock) -> str:
    """The call's result, while time passes."""
    events = asyncio.create_task(here.events(run_id))

    def passes() -> bool:
        clock.move(LONGEST)
        return events.done()

    await soon(passes, "the run's end")
    assert end_of(await events)[0] in ("finish", "error")
    return next(each.result for event in await events for each in event.tool_results or ())


@pytest.mark.parametrize("make", [Flaky.on_loop, Flaky.on_thread])
async def test_a_call_is_made_again_under_the_same_key_until_it_works(make: Any) -> None:
    flaky, clock = Flaky(ConnectionError("no"), TimeoutError("slow")), FakeClock()
    async with world(model(), tools=[make(flaky, retries=3)], clock=clock, server=PATIENT) as here:
        assert await result(here, await here.send(), clock) == "worked"
        started = [entry for entry in await here.entries() if isinstance(entry, ToolStarted)]
    assert len(started) == 1
    assert len(flaky.keys) == 3
    assert len(set(flaky.keys)) == 1


async def test_when_the_attempts_are_used_up_the_model_gets_the_last_error() -> None:
    flaky, clock = Flaky(*(ConnectionError(f"no {at}") for at in range(9))), FakeClock()
    async with world(model(), tools=[flaky.on_loop(retries=2)], clock=clock, server=PATIENT) as here:
        told = await result(here, await here.send(), clock)
    assert told == "ConnectionError: no 2\nTried 3 times; the last error is shown."
    assert len(flaky.keys) == 3


async def test_without_retries_an_error_is_told_as_it_is() -> None:
    flaky = Flaky(ConnectionError("no"))
    async with world(model(), tools=[flaky.on_loop()]) as here:
        assert await result(here, await here.send(), here.clock) == "ConnectionError: no"


@pytest.mark.parametrize("error", [StopRun("enough"), InvalidRequest("bad"), asyncio.CancelledError()], ids=repr)
async def test_what_another_attempt_cannot_change_is_not_tried_again(error: BaseException) -> None:
    flaky, clock = Flaky(error), FakeClock()
    async with world(model(), tools=[flaky.on_loop(retries=3)], clock=clock, server=PATIENT) as here:
        assert "Tried" not in await result(here, await here.send(), clock)
    assert len(flaky.keys) == 1


async def test_the_deadline_comes_before_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = import_module("talaria.tools.stages.retry")
    monkeypatch.setattr(stage, "BASE", 1e12)
    monkeypatch.setattr(stage, "LONGEST", 1e12)
    flaky = Flaky(ConnectionError("no"))
    async with world(model(), tools=[flaky.on_loop(retries=3, timeout=30)]) as here:
        assert await result(here, await here.send(), FakeClock()) == "ConnectionError: no"
    assert len(flaky.keys) == 1


async def test_a_cancel_ends_the_waiting() -> None:
    flaky = Flaky(ConnectionError("no"), ConnectionError("no"))
    async with world(model(), tools=[flaky.on_loop(retries=3)]) as here:
        run_id = await here.send()
        await soon(lambda: len(flaky.keys) == 1, "the first attempt")
        await here.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")
    assert len(flaky.keys) == 1


def test_waits_double_and_are_at_most_the_longest() -> None:
    assert [backoff(tried, lambda: 1.0) for tried in range(7)] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert backoff(3, lambda: 0.0) == 0.0
