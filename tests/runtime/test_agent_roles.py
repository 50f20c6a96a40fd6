"""Agents for roles, where a program runs them and where they ask each other."""

import pytest

from talaria import Agent, AgentRequest, Principal, Reply, Runtime, Session, agent
from talaria.core.errors import ConfigurationError, Forbidden
from talaria.runtime.audit_log import Wanted
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.own import Own
from tests.runtime.tools import Shop
from tests.runtime.world import World, end_of, world

BOOKS = Agent("books", roles=["finance", "board"])


async def test_a_program_runs_an_agent_for_somebody() -> None:
    async with world(ScriptedModel(Say("Hi."))) as here:
        with pytest.raises(Forbidden, match="agent 'books'"):
            await here.runtime.run(BOOKS, "Hello")
        whom = Principal("acme", "alice", ("board",))
        assert (await here.runtime.run(BOOKS, "Hello", principal=whom)).text == "Hi."


async def test_roles_stand_in_the_configuration_too() -> None:
    config = {"store": {"url": "memory://"}, "agents": [{"name": "books", "roles": ["finance"]}]}
    async with Runtime(config, model=ScriptedModel(Say("Hi.")), clock=FakeClock()) as runtime:
        with pytest.raises(Forbidden, match="agent 'books'"):
            await runtime.run("books", "Hello")


def test_one_text_is_no_list_of_roles() -> None:
    with pytest.raises(ConfigurationError, match=r"write \['board'\]"):
        Agent("books", roles="board")


# Agents of one's own


class Secretary(Own):
    name = "secretary"
    roles = ("finance",)


async def reply(request: AgentRequest, session: Session) -> Reply:
    del session
    return Reply((await request.agents.ask("books", "How much?")).text)


async def test_an_agent_of_ones_own_has_roles_too() -> None:
    mine = agent(Secretary(reply, needs=frozenset({"agents"})))
    async with world(ScriptedModel(Say("7.")), agents=[mine, BOOKS]) as here:
        with pytest.raises(Forbidden, match="agent 'secretary'"):
            await here.submit(agent="secretary")
        run = (await here.submit(agent="secretary", principal=Principal("default", "anonymous", ("finance",)))).run_id
        assert end_of(await here.events(run)) == ("finish", "stop")


async def test_an_agent_of_ones_own_cannot_ask_one_that_its_user_may_not_use(store: str) -> None:
    async with world(ScriptedModel(Say("7.")), agents=[agent(Own(reply)), BOOKS], store=store) as here:
        run = await here.send(agent="own")
        events = await here.events(run)
        assert end_of(events) == ("error", "forbidden")
        assert "agents.ask: agent 'books' asks for a role" in str(events[-1].data)
        assert await audited(here) == [("agent.permission", "deny", "books")]
    assert isinstance(here.model, ScriptedModel)
    assert here.model.requests == []


async def audited(here: World) -> list[tuple[str, str, str]]:
    page = await here.parts.audit_log.page(Principal(everyone=True), Wanted(), None, 10)
    return [(each["action"], each["outcome"], each["subject"]) for each in page["entries"]]


# What was admitted under other roles


async def test_a_run_does_not_go_on_once_its_agent_is_for_others(sqlite: str) -> None:
    shop = Shop()
    model = ScriptedModel(Call("refund", {"amount": 2}), Say("Done."))
    async with world(model, tools=shop.tools, agents=[Agent("books")], store=sqlite) as here:
        run = await here.send(agent="books")
        question = await here.question(run)
        await here.stands(run, "waiting_approval")
    async with world(model, tools=shop.tools, agents=[Agent("books", roles=["board"])], store=sqlite) as here:
        await here.decide(question)
        assert end_of(await here.events(run)) == ("error", "forbidden")
        assert ("agent.permission", "deny", "books") in await audited(here)
    assert shop.done == []
