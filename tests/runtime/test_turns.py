"""A turn from its question to its end: rounds, limits, answers of every kind."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Runtime, StopRun, TalariaError, tool
from talaria.core.errors import ModelRejected, ModelUnavailable, OutputInvalid
from talaria.core.messages import AssistantMessage, ToolMessage
from talaria.runtime.agent import Agent
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Cut, Fail, Restarted, Say, ScriptedModel
from tests.runtime.tools import Shop
from tests.runtime.world import assert_valid, assert_valid_wire, bounded, end_of, kinds, text_of, told, world


async def test_a_turn_calls_tools_until_the_model_answers(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(
        Say(
            reasoning="Hm. ", text="Let me look.", calls=(Call("sell", {"what": "lamp"}), Call("sell", {"what": "rug"}))
        ),
        Say("Sold."),
    )
    async with world(model, tools=shop.tools, store=store) as here:
        events = await here.ask("Sell the lamp")
        assert told(events) == snapshot(
            [
                "run_started",
                "reasoning Hm. ",
                "token Let me look.",
                'tool_call sell{"what":"lamp"}, sell{"what":"rug"}',
                "tool_started sell",
                "tool_result sell: sold lamp",
                "tool_started sell",
                "tool_result sell: sold rug",
                "token Sold.",
                "finish stop",
            ]
        )
        assert await here.tales() == snapshot(
            [
                "ContextSet",
                "TurnStarted",
                "ModelFinished",
                "ToolStarted",
                "ToolFinished",
                "ToolStarted",
                "ToolFinished",
                "ModelFinished",
                "RunFinished",
            ]
        )
        assert [message["role"] for message in await here.messages()] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
        ]
    model.check()


async def test_run_gives_the_answer_the_usage_and_the_messages() -> None:
    shop, model = Shop(), ScriptedModel(Call("look"), Say("A shelf."))
    agent = Agent("clerk", tools=[shop.look])
    async with Runtime({"store": {"url": "memory://"}}, model=model, clock=FakeClock()) as runtime:
        result = await bounded(runtime.run(agent, "What is there?", session="s"))
    assert (result.output, result.finish_reason, result.session_id) == ("A shelf.", "stop", "s")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (20, 10)
    assert_valid(result.messages)
    assert len(result.messages) == 4


async def test_a_second_turn_sees_the_first_and_its_beginning_is_the_same() -> None:
    model = ScriptedModel(Call("look"), Say("One."), Say("Two."))
    async with world(model, tools=Shop().tools) as here:
        await here.ask("First")
        await here.ask("Second")
    assert model.prompts[2][: len(model.prompts[1])] == model.prompts[1]
    assert model.requests[0].prompt is model.requests[2].prompt


async def test_the_model_is_told_to_answer_once_the_calls_are_used_up(store: str) -> None:
    shop = Shop()
    model = ScriptedModel(Call("look", {"what": "a"}), Say(calls=(Call("look"), Call("look"))), Say("That is all."))
    async with world(model, tools=shop.tools, store=store) as here:
        events = await here.ask(max_tool_iterations=2)
        assert end_of(events) == ("finish", "toolCallLimitExceeded")
        assert text_of(events) == "That is all."
        assert_valid_wire(await here.messages())
    assert [request.tool_choice for request in model.requests] == ["auto", "auto", "none"]
    assert shop.done == ["look a", "look shelf"]
    assert sorted(told(events)[-4:]) == snapshot(
        [
            "finish toolCallLimitExceeded",
            "token That is all.",
            "tool_result look: Not run: the limit of 2 tool calls in this turn is reached. Answer with what you have.",
            "tool_result look: there is a shelf",
        ]
    )


async def test_a_model_that_calls_on_after_the_limit_ends_the_run_with_a_valid_history() -> None:
    shop, model = Shop(), ScriptedModel(script=lambda _: Call("look"))
    async with world(model, tools=shop.tools) as here:
        assert end_of(await here.ask(max_tool_iterations=1)) == ("finish", "toolCallLimitExceeded")
        assert_valid_wire(await here.messages())
    assert shop.done == ["look shelf"]
    assert len(model.requests) == 3


async def test_one_tool_may_be_called_so_often_and_others_go_on_in_that_round() -> None:
    shop = Shop()
    model = ScriptedModel(Say(calls=(Call("look"), Call("look"), Call("sell", {"what": "x"}))), Say("Enough."))
    async with world(model, tools=shop.tools, limits={"maxCallsPerTool": 1}) as here:
        assert end_of(await here.ask()) == ("finish", "toolCallLimitExceeded")
    assert shop.done == ["look shelf", "sell x"]


async def test_a_run_has_so_many_rounds() -> None:
    model = ScriptedModel(script=lambda _: Call("look"))
    async with world(model, tools=Shop().tools, limits={"maxRounds": 3}) as here:
        assert end_of(await here.ask()) == ("finish", "maxRounds")
        assert_valid_wire(await here.messages())
    assert len(model.requests) == 3


async def test_a_model_that_says_nothing_is_asked_once_more() -> None:
    model = ScriptedModel(Say(), Say("Now."))
    async with world(model) as here:
        events = await here.ask()
    assert (end_of(events), text_of(events)) == (("finish", "stop"), "Now.")


@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
async def test_a_model_that_says_nothing_twice_ends_the_run_with_an_error(finish: Any) -> None:
    model = ScriptedModel(Say(finish=finish), Say(reasoning="Hm.", finish=finish), Say("Next."))
    async with world(model) as here:
        assert end_of(await here.ask()) == ("error", "output_invalid")
        assert end_of(await here.ask()) == ("finish", "stop")
    model.check()


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_an_answer_that_was_cut_off_says_why(finish: Any) -> None:
    async with world(ScriptedModel(Say("Half an", finish=finish))) as here:
        events = await here.ask()
    assert (end_of(events), text_of(events)) == (("finish", finish), "Half an")


async def test_a_call_that_the_token_limit_cut_off_is_neither_run_nor_in_the_history() -> None:
    shop = Shop()
    model = ScriptedModel(Say("I will", finish="length", cut_calls=1))
    async with world(model, tools=shop.tools) as here:
        assert end_of(await here.ask()) == ("finish", "length")
        assert [message.get("toolCalls") for message in await here.messages()] == [None, None]
    assert shop.done == []


async def test_what_was_said_before_the_stream_broke_is_kept() -> None:
    model = ScriptedModel(Cut("Half an", reasoning="Hm."), Say("Whole."))
    async with world(model) as here:
        events = await here.ask()
        assert (end_of(events), text_of(events)) == (("error", "stream_truncated"), "Half an")
        assert (await here.messages())[1] == {"role": "assistant", "content": "Half an", "incomplete": True}
        assert end_of(await here.ask()) == ("finish", "stop")


async def test_a_model_error_reaches_the_client_without_the_providers_words() -> None:
    failure = ModelRejected("the model refused the request", operator="key sk-1 is not valid")
    async with world(ScriptedModel(Fail(failure))) as here:
        events = await here.ask()
    assert end_of(events) == ("error", "model_rejected")
    assert "sk-1" not in str(events)


async def test_run_raises_what_the_run_ended_with() -> None:
    model = ScriptedModel(Fail(ModelUnavailable("nobody answers")), Say(), Say())
    async with Runtime({"store": {"url": "memory://"}}, model=model, clock=FakeClock()) as runtime:
        with pytest.raises(ModelUnavailable, match="nobody answers"):
            await bounded(runtime.run(Agent("a"), "Go"))
        with pytest.raises(OutputInvalid):
            await bounded(runtime.run(Agent("a"), "Go"))


async def test_a_retried_answer_is_said_again_after_a_rewind() -> None:
    model = ScriptedModel(Call("look"), Restarted("The lamp is", Say("The lamp is blue.")))
    async with world(model, tools=Shop().tools) as here:
        events = await here.ask()
    rewind = kinds(events).index("rewind")
    assert kinds(events)[rewind - 1 : rewind + 3] == ["token", "rewind", "notice", "token"]
    assert text_of(events[rewind:]) == "The lamp is blue."


async def test_calls_without_an_id_or_with_one_seen_before_get_one_of_their_own() -> None:
    seen: list[str] = []

    @tool(side_effects=False)
    async def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedModel(
        Say(calls=(Call("look", id=""), Call("look", id="a"), Call("look", id="a"))),
        Say(calls=(Call("look", id="a"), Call("look", id=""))),
        Say("Done."),
    )
    async with world(model, tools=[look]) as here:
        events = await here.ask()
        assert_valid_wire(await here.messages())
    for event in events:
        seen += [call.id for call in event.tool_calls or () if event.type == "tool_call"]
    assert len(set(seen)) == 5
    assert "" not in seen
    history = model.prompts[-1]
    calls = [call for message in history if isinstance(message, AssistantMessage) for call in message.calls]
    assert [call.provider_id or call.id for call in calls][1:4] == ["a", "a", "a"]
    assert len([message for message in history if isinstance(message, ToolMessage)]) == 5


async def test_a_run_whose_time_is_up_keeps_what_was_said() -> None:
    gate = asyncio.Event()
    model = ScriptedModel(Say("Slowly said.", chunk=6, gate=gate))
    async with world(model, server={"runTimeout": 0.2}) as here:
        events = await here.ask()
        assert (end_of(events), text_of(events)) == (("finish", "timeout"), "Slowly")
        assert (await here.messages())[-1]["content"] == "Slowly"
    assert model.closed_early == 1


async def test_time_that_passed_by_the_clock_ends_a_run_between_its_rounds() -> None:
    clock = FakeClock()

    @tool(side_effects=False)
    async def wait() -> str:
        """Wait."""
        clock.move(601)
        return "waited"

    async with world(ScriptedModel(Call("wait")), tools=[wait], clock=clock) as here:
        assert end_of(await here.ask()) == ("finish", "timeout")
        assert_valid_wire(await here.messages())


async def test_a_tool_that_ends_the_run_has_its_answer_and_those_behind_it_are_refused() -> None:
    shop = Shop()

    @tool
    async def stop() -> str:
        """Stop."""
        raise StopRun("The till is closed.")

    model = ScriptedModel(Say(calls=(Call("stop"), Call("sell", {"what": "x"}))), Say("Later."))
    async with world(model, tools=[*shop.tools, stop]) as here:
        events = await here.ask()
        assert told(events)[-4:] == snapshot(
            [
                "tool_started stop",
                "tool_result stop: The tool ended the run: The till is closed.",
                "tool_result sell: Not run: a tool before this call ended the run.",
                "error tool_failed The till is closed.",
            ]
        )
        assert_valid_wire(await here.messages())
        assert end_of(await here.ask()) == ("finish", "stop")
    assert shop.done == []
    with pytest.raises(TalariaError, match="till is closed"):
        async with world(ScriptedModel(Call("stop")), tools=[stop]) as here:
            await bounded(here.runtime.run(Agent("a"), "Go"))


async def test_a_fault_of_the_model_ends_the_run_with_an_id_for_the_log() -> None:
    def broken(_: Any) -> Say:
        raise RuntimeError("no such thing")

    async with world(ScriptedModel(script=broken)) as here:
        events = await here.ask()
    assert end_of(events) == ("error", "internal")
    assert "err_" in str(events[-1].data)
    assert "no such thing" not in str(events[-1].data)
