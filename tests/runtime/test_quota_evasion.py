"""Ways round the quotas: calls that are cut off, attempts that are void, rooms that are too small."""

import asyncio
from typing import Any

import pytest

from talaria import AgentRequest, Principal, Reply, Session
from talaria.core.errors import ModelError
from talaria.core.usage import Usage
from talaria.testing.scripted_model import Cut, Restarted, Say, ScriptedModel
from tests.runtime.own import own
from tests.runtime.world import World, end_of, world

PRICED = [{"prefix": "", "baseUrl": "http://127.0.0.1:1", "price": {"input": 1_000_000, "output": 1_000_000}}]
SMALL = {"answerTokens": 1_000}


def each(**budget: float) -> dict[str, Any]:
    return {"tenants": {"*": budget}} | SMALL


async def spent(here: World) -> dict[str, Any]:
    (total,) = (await here.parts.usage.usage(Principal(), ()))["usage"]
    return total


async def test_money_of_a_call_that_is_cancelled_is_spent(store: str) -> None:
    model = ScriptedModel(script=lambda _: Say("A long answer. " * 40, chunk=8, gate=asyncio.Event()))
    quotas = each(costPerDay=1_500)
    async with world(model, store=store, models=PRICED, default_model="m", quotas=quotas) as here:
        run_id = await here.send(session_id="a")
        await here.until(run_id, "token")
        await here.cancel(run_id)
        assert end_of(await here.events(run_id)) == ("finish", "cancelled")
        assert (await spent(here))["cost"]["USD"] > 100
        assert end_of(await here.ask(session_id="b")) == ("finish", "quotaExceeded")


async def test_a_step_of_an_agent_of_ones_own_that_is_given_up_is_spent(store: str) -> None:
    async def hasty(request: AgentRequest, session: Session) -> Reply:
        for _ in range(10):
            try:
                async with asyncio.timeout(0.02):
                    await request.models.ask("Go")
            except TimeoutError:
                continue
        return Reply("Never an answer.")

    model = ScriptedModel(script=lambda _: Say("A long answer. " * 40, chunk=8, gate=asyncio.Event()))
    async with world(model, store=store, agents=[own(hasty)], quotas=each(tokensPerDay=1_500)) as here:
        assert end_of(await here.ask(agent="own")) == ("finish", "quotaExceeded")
        assert len(model.requests) < 10


async def test_a_step_of_an_agent_of_ones_own_that_fails_is_spent(store: str) -> None:
    async def stubborn(request: AgentRequest, session: Session) -> Reply:
        for _ in range(10):
            try:
                await request.models.ask("Go")
            except ModelError:
                continue
        return Reply("Never an answer.")

    model = ScriptedModel(script=lambda _: Cut("A long answer. " * 200))
    async with world(model, store=store, agents=[own(stubborn)], quotas=each(tokensPerDay=2_500)) as here:
        assert end_of(await here.ask(agent="own")) == ("finish", "quotaExceeded")
        assert len(model.requests) < 10


async def test_another_attempt_at_a_step_of_an_agent_of_ones_own_needs_room_of_its_own(store: str) -> None:
    async def once(request: AgentRequest, session: Session) -> Reply:
        return Reply((await request.models.ask("Go")).text)

    steps = [Restarted("A long beginning. " * 20, Say("Done.", usage=Usage(10, 5)))]
    quotas = each(tokensPerDay=1_500)
    async with world(ScriptedModel(*steps), store=store, agents=[own(once)], quotas=quotas) as here:
        assert end_of(await here.ask(agent="own")) == ("finish", "quotaExceeded")
    async with world(
        ScriptedModel(*steps), store="memory://", agents=[own(once)], quotas=each(tokensPerDay=9_000)
    ) as here:
        events = await here.ask(agent="own")
        assert end_of(events) == ("finish", "stop")
        assert events[-1].usage is not None
        assert events[-1].usage.estimated
        assert events[-1].usage.output_tokens > 50


async def test_the_schema_of_an_answer_takes_room(store: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "Long words. " * 800}}}
    model = ScriptedModel(script=lambda _: Say('{"a": "b"}'))
    models = [{"prefix": "", "baseUrl": "http://127.0.0.1:1", "capabilities": {"jsonSchema": True}}]
    async with world(model, store=store, models=models, default_model="m", quotas=each(tokensPerDay=4_000)) as here:
        assert end_of(await here.ask(output_schema=schema)) == ("finish", "quotaExceeded")


@pytest.mark.parametrize("most", [2**63, 10**30])
async def test_a_number_that_no_journal_can_hold_is_refused(most: int) -> None:
    async with world(ScriptedModel()) as here:
        with pytest.raises(ValueError, match="less than 2147483648"):
            await here.submit(max_tokens=most)


@pytest.mark.parametrize("labels", [{"a": "x" * 257}, {"x" * 257: "a"}])
async def test_labels_which_every_row_of_usage_repeats_are_short(labels: dict[str, str]) -> None:
    async with world(ScriptedModel()) as here:
        with pytest.raises(ValueError, match="256"):
            await here.submit(labels=labels)
