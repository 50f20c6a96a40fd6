"""What an agent of one's own is given: models with tools, approvals, other agents, metrics; and how it is heard."""

from typing import Any

import pytest

from talaria import Agent, AgentRequest, ChatEvent, Reply, Session, agent, tool
from talaria.core.errors import ModelUnavailable
from talaria.journal.entries import AgentSaid, ApprovalRequested, StepFinished
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Fail, Say, ScriptedModel
from tests.runtime.own import Own, Pieces, loop, own
from tests.runtime.tools import Shop
from tests.runtime.world import assert_valid_wire, end_of, kinds, text_of, told, world

# Loops of one's own


async def test_a_loop_of_ones_own_runs_what_the_model_decides_through_the_chain(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(
        Say(calls=(Call("sell", '{"what": "cup",}', id="0"), Call("refund", {"amount": "2"}, id="0"))),
        Say(calls=(Call("look", {}, id="0"),)),
        Say("All done."),
    )
    async with world(model, tools=shop.tools, agents=[own(loop)], store=store) as here:
        run = await here.send("A cup!", agent="own")
        await here.decide(await here.question(run))
        events = await here.events(run)
        assert (end_of(events), text_of(events)) == (("finish", "stop"), "All done.")
        assert shop.done == ["sell cup", "refund 2", "look shelf"]
        assert_valid_wire(await here.messages())
        steps = [each for each in await here.entries() if isinstance(each, StepFinished)]
    model.check()
    assert [spec.name for spec in model.requests[0].prompt.tools][:2] == ["look", "sell"]
    assert len({call.id for step in steps for call in step.message.calls}) == 3
    last = model.prompts[-1]
    assert [type(each).__name__ for each in last] == [
        *("UserMessage", "AssistantMessage", "ToolMessage", "ToolMessage", "AssistantMessage", "ToolMessage")
    ]


async def test_a_model_is_offered_only_tools_of_the_turn() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        return Reply((await request.models.ask("?", tools=["selll"])).text)

    async with world(tools=Shop().tools, agents=[own(invoke)]) as here:
        events = await here.ask(agent="own")
    assert end_of(events) == ("error", "invalid_request")
    assert "models.ask: no tool named 'selll'; there are" in str(events[-1].data)


async def test_a_model_that_fails_may_be_caught_and_another_asked() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        try:
            return Reply((await request.models.ask("?", model="large")).text)
        except ModelUnavailable:
            return Reply((await request.models.ask("?", model="small")).text)

    model = ScriptedModel(Fail(ModelUnavailable("gone")), Say("Small talk."))
    async with world(model, agents=[own(invoke)]) as here:
        assert text_of(await here.ask(agent="own")) == "Small talk."
    assert [request.model for request in model.requests] == ["large", "small"]


async def test_the_rounds_of_a_run_are_limited_whatever_the_agent_does() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        while True:
            await request.tools.call("look")

    shop = Shop()
    async with world(tools=shop.tools, agents=[own(invoke)], limits={"maxRounds": 3}) as here:
        assert end_of(await here.ask(agent="own")) == ("finish", "maxRounds")
    assert len(shop.done) == 3


# Approvals


async def buy(request: AgentRequest, session: Session) -> Pieces:
    """Says something, asks, says what came of it."""
    yield "I would buy it."
    consent = await request.approvals.ask("buy a cup", price=4)
    yield f" {consent.outcome} {consent.given} {consent.details} {consent.by} {consent.comment}"


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ({}, " approved True {'price': 4} anonymous "),
        (
            {"arguments": {"action": "buy a cup", "details": {"price": 3}}, "comment": "less"},
            " edited True {'price': 3} anonymous less",
        ),
        ({"approve": False, "comment": "no"}, " declined False {'price': 4} anonymous no"),
    ],
)
async def test_a_person_is_asked_about_an_action_and_decides_after_a_restart(
    sqlite: str, decision: dict[str, Any], words: str
) -> None:
    async with world(agents=[own(buy)], store=sqlite) as here:
        run = await here.send(agent="own")
        question = await here.question(run)
        await here.stands(run, "waiting_approval")
        (asked,) = [each for each in await here.entries() if isinstance(each, ApprovalRequested)]
        assert (asked.name, asked.arguments) == ("ask_consent", '{"action":"buy a cup","details":{"price":4}}')
    async with world(agents=[own(buy)], store=sqlite) as here:
        await here.decide(question, **decision)
        events = await here.events(run)
        assert end_of(events) == ("finish", "stop")
        assert text_of(events) == f"I would buy it.{words}"
        assert "rewind" not in kinds(events)
        assert_valid_wire(await here.messages())


async def test_consent_to_one_action_is_none_to_the_next_and_silence_is_none_at_all() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        first = await request.approvals.ask("one")
        second = await request.approvals.ask("two")
        return Reply(f"{first.outcome}, {second.outcome}")

    clock = FakeClock()
    async with world(agents=[own(invoke)], clock=clock, approval={"timeout": 60}) as here:
        run = await here.send(agent="own")
        await here.decide(await here.question(run), remember=True)
        asked = 0
        async for event in here.follow(run):
            asked += event.type == "approval_request"
            if asked == 2 and event.type == "approval_request":
                await here.stands(run, "waiting_approval")
                clock.move(61)
        assert text_of(await here.events(run)) == "approved, expired"


async def test_where_nobody_can_be_asked_there_is_no_consent() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        await request.tools.call("look")
        consent = await request.approvals.ask("one")
        return Reply(f"{consent.outcome} {consent.given}: {consent.comment}")

    async with world(tools=Shop().tools, agents=[own(invoke)]) as here:
        events = await here.ask(agent="own", max_tool_iterations=1)
    assert "approval_request" not in kinds(events)
    assert text_of(events).startswith("refused False: Not run: the limit of 1 tool calls in this turn is reached.")


# Being heard


async def test_pieces_events_and_steps_come_in_any_order_and_are_told_once(sqlite: str) -> None:
    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        yield ChatEvent("reasoning", "Which one? ")
        await session.set("asked", True)
        answer = await request.models.ask("which?")
        yield f"The {answer.text} one. "
        yield ChatEvent("custom", {"done": 0.5}, name="progress")
        paid = await request.tools.call("refund", amount=2)
        yield ChatEvent("token", f"{paid.text}.")

    expected = [
        *("run_started", "reasoning Which one? ", "token The blue one. ", "custom"),
        *('tool_call refund{"amount": 2}', 'approval_request refund{"amount":2}', "approval_resolved approved"),
        *("tool_started refund", "tool_result refund: paid 2", "token paid 2.", "finish stop"),
    ]
    shop = Shop()
    async with world(ScriptedModel(Say("blue")), tools=shop.tools, agents=[own(invoke)], store=sqlite) as here:
        run = await here.send(agent="own")
        question = await here.question(run)
        await here.stands(run, "waiting_approval")
    async with world(ScriptedModel(), tools=shop.tools, agents=[own(invoke)], store=sqlite) as here:
        await here.decide(question)
        events = await here.events(run)
        assert told(events) == expected
        assert [event for event in events if event.type == "custom"] == [ChatEvent("custom", {"done": 0.5}, "progress")]
        assert len([each for each in await here.entries() if isinstance(each, AgentSaid)]) == 4
        assert (await here.messages())[-1]["content"] == "The blue one. paid 2."
        assert await here.events(run) == events


async def test_what_was_said_before_a_cancel_is_kept() -> None:
    async with world(agents=[own(buy)]) as here:
        run = await here.send(agent="own")
        await here.stands(run, "waiting_approval")
        await here.cancel(run)
        events = await here.events(run)
        assert (end_of(events), text_of(events)) == (("finish", "cancelled"), "I would buy it.")
        last = (await here.messages())[-1]
        assert (last["content"], last["incomplete"]) == ("I would buy it.", True)


async def test_a_fault_of_the_agent_ends_the_run_and_keeps_what_it_said() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        yield "So far"
        raise RuntimeError("oops")

    async with world(agents=[own(invoke)]) as here:
        events = await here.ask(agent="own")
        assert (end_of(events), text_of(events)) == (("error", "internal"), "So far")
        assert (await here.messages())[-1]["content"] == "So far"


async def test_an_agent_may_have_nothing_to_say() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        yield ""
        yield ChatEvent("custom", name="nod")

    async with world(agents=[own(invoke)]) as here:
        assert told(await here.ask(agent="own")) == ["run_started", "custom", "finish stop"]


@pytest.mark.parametrize(
    "piece", [ChatEvent("tool_call"), ChatEvent("token", 3), ChatEvent("custom", 3), 3], ids=lambda each: str(each)[:30]
)
async def test_a_piece_that_clients_do_not_know_is_refused(piece: Any) -> None:
    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        yield piece

    async with world(agents=[own(invoke)]) as here:
        events = await here.ask(agent="own")
    assert end_of(events) == ("error", "output_invalid")
    assert "yield text, or ChatEvents of type token" in str(events[-1].data)


async def test_an_agent_that_speaks_otherwise_the_second_time_is_stopped() -> None:
    said = iter(("one", "two"))

    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        yield next(said)
        yield (await request.tools.call("refund", amount=1)).text

    async with world(tools=Shop().tools, agents=[own(invoke)]) as here:
        run = await here.send(agent="own")
        await here.decide(await here.question(run))
        events = await here.events(run)
    assert end_of(events) == ("error", "output_invalid")
    assert "it said 'one' where it now says 'two'" in str(events[-1].data)


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        ("7}", ["finish stop"]),
        ("7,}", ["rewind", 'token {"total":7}', "finish stop"]),
        ("}", ["rewind", "rewind", "error output_invalid the model's answer does not fit the schema: "]),
    ],
)
async def test_an_answer_in_pieces_is_held_against_the_schema_of_the_turn(last: str, ending: list[str]) -> None:
    async def invoke(request: AgentRequest, session: Session) -> Pieces:
        yield '{"total": '
        yield last

    schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    async with world(agents=[own(invoke)], limits={"outputRepairs": 1}) as here:
        events = await here.ask(agent="own", output_schema=schema)
    assert told(events)[:3] == ["run_started", 'token {"total": ', f"token {last}"]
    rest = told(events)[3:]
    assert [line[: len(end)] for line, end in zip(rest, ending, strict=True)] == ending
    assert all(str(event.data).endswith("/2.0") for event in events if event.type == "rewind")


# Other agents


@tool(side_effects=False)
async def weather(city: str) -> str:
    """Tell the weather."""
    return f"sun in {city}"


FORECASTER = Agent("forecaster", model="small", instructions="You know the weather.", tools=[weather])


async def test_another_agent_is_asked_within_the_run(sqlite: str) -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        said = await request.agents.ask("forecaster", "Rome?")
        consent = await request.approvals.ask("go")
        mine = await request.tools.call("weather", city="Bonn")
        return Reply(f"{said.text} {consent.given} {mine.text} {mine.is_error}")

    body = Own(invoke, tools=())
    model = ScriptedModel(Call("weather", {"city": "Rome"}), Say("Sunny."))
    async with world(model, agents=[agent(body), FORECASTER], store=sqlite) as here:
        run = await here.send(agent="own")
        question = await here.question(run)
        await here.stands(run, "waiting_approval")
    model.check()
    assert [(request.model, len(request.prompt.messages)) for request in model.requests] == [("small", 1), ("small", 3)]
    assert "You know the weather." in model.requests[0].prompt.system
    async with world(ScriptedModel(), agents=[agent(body), FORECASTER], store=sqlite) as here:
        await here.decide(question)
        events = await here.events(run)
    assert text_of(events) == "Sunny. True no tool named 'weather'; there are none in this turn True"
    assert [line for line in told(events) if "weather" in line][:-1] == [
        'tool_call weather{"city":"Rome"}',
        "tool_started weather",
        "tool_result weather: sun in Rome",
    ]


async def test_an_agent_that_cannot_be_asked_is_named() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        return await request.agents.ask("own", "Do it yourself")

    async with world(agents=[own(invoke), FORECASTER, Agent("bound", deps=3)]) as here:
        events = await here.ask(agent="own")
    assert end_of(events) == ("error", "invalid_request")
    assert "no agent named 'own' can be asked; there are 'forecaster'" in str(events[-1].data)


async def test_an_agent_that_comes_to_no_answer_is_left() -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        return await request.agents.ask("forecaster", "Rome?")

    model = ScriptedModel(script=lambda _: Call("weather", {"city": "Rome"}))
    async with world(model, agents=[own(invoke), FORECASTER], limits={"maxRounds": 4}) as here:
        events = await here.ask(agent="own")
    assert end_of(events) == ("finish", "maxRounds")
    assert len(model.requests) == 4


# Questions


@pytest.mark.parametrize(("answer", "words"), [("blue", "It is blue."), (None, "Nobody says.")])
async def test_the_user_is_asked_for_an_answer_which_comes_after_a_restart(
    sqlite: str, answer: str | None, words: str
) -> None:
    async def invoke(request: AgentRequest, session: Session) -> Reply:
        said = await request.approvals.question("Which colour?", "red", "blue")
        return Reply("Nobody says." if said is None else f"It is {said}.")

    async with world(agents=[own(invoke)], store=sqlite) as here:
        run = await here.send(agent="own", tools=[])
        question = await here.until(run, "question")
        await here.stands(run, "waiting_approval")
        assert (question.question, question.choices) == ("Which colour?", ("red", "blue"))
    async with world(agents=[own(invoke)], store=sqlite) as here:
        if answer is None:
            await here.runtime.decline(str(question.data))
        else:
            await here.runtime.answer(str(question.data), answer)
        assert text_of(await here.events(run)) == words
        assert_valid_wire(await here.messages())
