"""Metrics of agents of one's own, the conversation they get, and the bench to test them on."""

from typing import Any

import pytest

from talaria import Agent, AgentRequest, ChatEvent, Reply, Session, agent
from talaria.core.messages import AssistantMessage, Text, ToolCall, ToolMessage, UserMessage
from talaria.testing.agents import bench
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.own import ALL, Own, Pieces, loop, own
from tests.runtime.tools import Shop
from tests.runtime.world import text_of, world

# Metrics


async def test_what_is_counted_is_not_counted_again_when_the_run_resumes() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        request.metrics.count("orders", kind="cup")
        await request.tools.call("look")
        request.metrics.observe("thinking", 0.2)
        await request.approvals.ask("go on")
        request.metrics.count("orders", 2, kind="cup")
        return Reply("counted")

    async with world(tools=Shop().tools, agents=[own(invoke)]) as here:
        run = await here.send(agent="own")
        await here.decide(await here.question(run))
        assert text_of(await here.events(run)) == "counted"
        lines = here.parts.kit.metrics.render().decode().splitlines()
    assert 'talaria_orders_total{kind="cup"} 3.0' in lines
    assert "talaria_thinking_count 1.0" in lines


# The bench


async def test_the_bench_has_all_five_parts() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        reply = await loop(request, session)
        yield reply.text
        yield ChatEvent("custom", 1, name="step")
        consent = await request.approvals.ask("buy", price=3)
        other = await request.agents.ask("forecaster", "Rome?")
        request.metrics.count("orders")
        request.metrics.observe("thinking", 0.5)
        yield f" {consent.given} {other.text}"

    def forecast(query: str) -> str:
        return f"{query} Sun!"

    parts: dict[str, Any] = {
        "answers": [Call("look", {"what": "cup"}), "Seen."],
        "tools": {"look": "a cup"},
        "decisions": [False],
        "agents": {"forecaster": forecast},
    }
    async with bench(Own(invoke), **parts) as seat:
        assert await seat.answer("What is there?") == "Seen. False Rome? Sun!"
        assert [event.type for event in seat.events] == ["token", "custom", "token"]
        assert seat.called == [("look", {"what": "cup"})]
        assert seat.questions == [("buy", {"price": 3})]
        assert seat.consulted == [("forecaster", "Rome?")]
        assert seat.measured == [("orders", 1), ("thinking", 0.5)]
        first, second = seat.asked
        assert (len(first), len(second)) == (1, 3)
        with pytest.raises(AssertionError, match="no answer left"):
            await seat.answer("More?")


@pytest.mark.parametrize("need", sorted(ALL))
async def test_the_bench_and_the_runtime_give_no_part_that_is_not_needed(need: str) -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        return Reply(str(getattr(request, need)))

    body = Own(invoke, ALL - {need})
    async with bench(body) as seat:
        with pytest.raises(Exception, match=f"does not need '{need}'; add it to its 'needs'"):
            await seat.answer("?")
    async with world(agents=[agent(body)]) as here:
        events = await here.ask(agent="own")
    assert f"does not need '{need}'" in str(events[-1].data)


async def test_the_conversation_that_an_agent_gets_is_that_before_its_turn() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        await request.approvals.ask("go on")
        said = [each for each in request.messages if isinstance(each, UserMessage | AssistantMessage)]
        texts = [part.text for each in said for part in each.parts if isinstance(part, Text)]
        return Reply(" | ".join(texts))

    async with world(ScriptedModel(Say("Hello.")), agents=[Agent("plain"), own(invoke)]) as here:
        await here.ask("Hi", agent="plain")
        run = await here.send("And you?", agent="own")
        await here.decide(await here.question(run))
        assert text_of(await here.events(run)) == "Hi | Hello. | And you?"


async def test_a_conversation_of_an_agents_own_is_made_valid() -> None:
    """One that keeps only the newest messages cuts between calls and results."""

    async def forgetful(request: AgentRequest, session: Session) -> Reply:
        asked = AssistantMessage((ToolCall("b", "sell"), ToolCall("c", "sell")))
        history = [ToolMessage("a", "sell", "lost"), asked, ToolMessage("c", "sell", "sold")]
        return Reply((await request.models.ask([*history, UserMessage((Text("go on"),))])).text)

    model = ScriptedModel(Say("Done."))
    async with world(model, agents=[own(forgetful)]) as here:
        events = await here.events(await here.send("Go.", agent="own"))
    assert text_of(events) == "Done."
    assert [type(message).__name__ for message in model.requests[0].prompt.messages] == [
        *("AssistantMessage", "ToolMessage", "ToolMessage", "UserMessage")
    ]
