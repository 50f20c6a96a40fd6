"""Agents of one's own: what they ask is recorded, and handed back when the run resumes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from talaria import AgentRequest, AgentRuntime, Reply, Session, agent
from talaria.agents.own import OwnSpec
from talaria.core.errors import ConfigurationError
from talaria.journal.entries import RunFinished
from talaria.testing.agents import bench
from talaria.testing.scripted_model import Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import assert_valid_wire, end_of, text_of, told, world


class Clerk:
    """Asks a model, calls two tools, says what came of it."""

    name = "clerk"
    needs = frozenset({"models", "tools"})

    def __init__(self) -> None:
        self.lived: list[str] = []

    async def initialize(self, runtime: AgentRuntime) -> None:
        self.lived.append(f"initialize {'sell' in runtime.tool_names}")

    async def invoke(self, request: AgentRequest, session: Session) -> Reply:
        self.lived.append("invoke")
        what = (await request.models.ask(f"What of '{request.query}' is for sale?")).text
        sold = await request.tools.call("sell", what=what)
        paid = await request.tools.call("refund", amount=2)
        return Reply(f"{sold.text}, {paid.text}, error: {paid.is_error}")

    async def destroy(self) -> None:
        self.lived.append("destroy")


class Talker(Clerk):
    name = "talker"
    needs = frozenset[str]()

    async def invoke(self, request: AgentRequest, session: Session) -> AsyncIterator[str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        yield "You said "
        yield request.query


async def test_an_agent_waits_for_a_person_and_asks_nothing_twice(store: str) -> None:
    clerk, shop, model = Clerk(), Shop(), ScriptedModel(Say("cup"))
    spec = agent(clerk)
    async with world(model, tools=shop.tools, agents=[spec], store=store) as here:
        run = await here.send("A cup!", agent="clerk")
        question = await here.question(run)
        await here.stands(run, "waiting_approval")
        await here.decide(question)
        events = await here.events(run)
        assert end_of(events) == ("finish", "stop")
        assert text_of(events) == "sold cup, paid 2, error: False"
        assert (shop.done, len(model.requests)) == (["sell cup", "refund 2"], 1)
        assert_valid_wire(await here.messages())
    assert clerk.lived == ["initialize True", "invoke", "invoke", "destroy"]


async def test_an_agent_resumes_in_another_process_where_it_was(sqlite: str) -> None:
    shop = Shop()
    async with world(ScriptedModel(Say("cup")), tools=shop.tools, agents=[agent(Clerk)], store=sqlite) as here:
        run = await here.send("A cup!", agent="clerk")
        question = await here.question(run)
        await here.stands(run, "waiting_approval")
    async with world(ScriptedModel(), tools=shop.tools, agents=[agent(Clerk)], store=sqlite) as here:
        await here.decide(question, approve=False)
        events = await here.events(run)
        assert text_of(events).endswith("declined this call., error: True")
        end = (await here.entries())[-1]
        assert isinstance(end, RunFinished)
        assert end.usage.input_tokens == 10
    assert shop.done == ["sell cup"]


async def test_an_agent_may_answer_in_pieces_and_programs_run_it() -> None:
    talker = agent(Talker)
    async with world(ScriptedModel()) as here:
        result = await here.runtime.run(talker, "hello", session="s-1")
        assert result.output == "You said hello"
        assert "token You said " in told(await here.ask("hello", agent="talker"))
        assert [each["content"] for each in await here.messages()][1::2] == ["You said hello"] * 2


async def test_what_is_not_needed_is_not_given() -> None:
    class Sly(Clerk):
        needs = frozenset({"models"})

    async with world(ScriptedModel(Say("cup")), tools=Shop().tools, agents=[agent(Sly)]) as here:
        events = await here.ask(agent="clerk")
    assert end_of(events)[0] == "error"
    assert "does not need 'tools'; add it to its 'needs'" in str(events[-1].data)


async def test_a_tool_that_is_not_there_is_told_to_the_agent() -> None:
    class Lost(Clerk):
        async def invoke(self, request: AgentRequest, session: Session) -> Reply:
            return Reply((await request.tools.call("selll")).text)

    async with world(ScriptedModel(), tools=Shop().tools, agents=[agent(Lost)]) as here:
        assert "did you mean 'sell'?" in text_of(await here.ask(agent="clerk"))


@pytest.mark.parametrize(
    ("needs", "words"),
    [({"model"}, "did you mean 'models'"), ({"x"}, "there are 'models', 'tools'")],
)
def test_an_unknown_need_is_an_error_at_start_up(needs: set[str], words: str) -> None:
    class Needy(Clerk):
        pass

    Needy.needs = frozenset(needs)
    with pytest.raises(ConfigurationError, match=words):
        agent(Needy)


def test_a_missing_member_is_named() -> None:
    class Half:
        name = "half"

    declare: Any = agent
    with pytest.raises(ConfigurationError, match="agent Half lacks 'needs', 'initialize', 'invoke', 'destroy'"):
        declare(Half)
    assert isinstance(agent(Clerk), OwnSpec)


async def test_an_agent_that_calls_otherwise_the_second_time_is_stopped() -> None:
    class Fickle(Clerk):
        async def invoke(self, request: AgentRequest, session: Session) -> Reply:
            self.lived.append("invoke")
            await request.tools.call("look", what=str(len(self.lived)))
            return Reply((await request.tools.call("refund")).text)

    async with world(ScriptedModel(), tools=Shop().tools, agents=[agent(Fickle)]) as here:
        run = await here.send(agent="clerk")
        await here.decide(await here.question(run))
        events = await here.events(run)
    assert end_of(events) == ("error", "output_invalid")
    assert "the agent is not deterministic" in str(events[-1].data)


async def test_a_start_that_fails_closes_what_was_opened(sqlite: str) -> None:
    class Broken(Clerk):
        async def initialize(self, runtime: AgentRuntime) -> None:
            raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="no database"):
        async with world(agents=[agent(Broken)], store=sqlite):
            pass
    async with world(store=sqlite) as here:
        assert not here.parts.engine.running


async def test_the_bench_gives_an_agent_only_what_it_needs_and_keeps_what_it_asked() -> None:
    def paid(amount: int) -> str:
        return f"paid {amount}"

    async with bench(Clerk(), answers=["cup"], tools={"sell": "sold", "refund": paid}) as seat:
        assert await seat.answer("A cup!") == "sold, paid 2, error: False"
        assert seat.asked == ["What of 'A cup!' is for sale?"]
        assert seat.called == [("sell", {"what": "cup"}), ("refund", {"amount": 2})]
    async with bench(Talker()) as seat:
        assert await seat.answer("hello") == "You said hello"
