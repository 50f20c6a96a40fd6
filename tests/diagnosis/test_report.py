"""What the report on a run says: its rounds, and whatever about them was odd."""

from typing import Any

import msgspec
import pytest

from talaria import Tool, tool
from talaria.agents.agent import AgentSpec
from talaria.core.errors import ModelUnavailable
from talaria.core.usage import Usage
from talaria.diagnosis.report import report
from talaria.journal.entries import ModelFinished, ToolFinished
from talaria.journal.recorded import read_run
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Fail, Restarted, Say, ScriptedModel, Step
from tests.runtime.world import World, world


def made(
    name: str, description: str = "Look up what an order holds, by its id.", answer: str = "fine", **options: Any
) -> Tool[..., Any]:
    """A tool with one described parameter."""

    def look(**arguments: Any) -> str:
        return answer

    parameters = {"type": "object", "properties": {"id": {"type": "integer", "description": "The order's."}}}
    return Tool(name, description, parameters, look, side_effects=False, **options)


async def told(there: World, run_id: str) -> str:
    return report(await read_run(there.store, run_id), there.parts.kit.catalog.registry.tools)


async def reported(
    *steps: Step, tools: tuple[Tool[..., Any], ...] = (), fields: dict[str, Any] | None = None, **config: Any
) -> str:
    """Run a turn and return the report on it."""
    async with world(ScriptedModel(*steps), tools=tools, **config) as there:
        run_id = await there.send(**(fields or {}))
        await there.events(run_id)
        return await told(there, run_id)


async def test_a_run_without_anything_odd_is_a_table() -> None:
    said = await reported(
        Say(calls=(Call("look", {"id": 1}), Call("look", {"id": 2}))), Say("Both are fine."), tools=(made("look"),)
    )
    head, ended, _, *lines = said.splitlines()
    assert head.endswith("of session 's-1': agent 'assistant'")
    assert ended.startswith("stop; 2 rounds, 2 calls, ")
    rows = [line.split() for line in lines[:4]]
    assert rows[0] == ["round", "model", "tokens", "in", "out", "call", "took", "result"]
    assert [row[0] for row in rows[1:]] == ["1", "look", "2"]
    assert rows[1][-3:] == rows[2][-3:] == ["ms", "4", "characters"]
    assert "“Both are fine.”" in lines[3]
    assert lines[4:] == ["", "Nothing odd was found."]


async def test_the_same_call_again_is_told_whether_or_not_its_text_is_the_same() -> None:
    same = (Call("look", '{"id": 1}'), Call("look", "{'id': 1}"))
    said = await reported(Say(calls=same), Say("Fine."), tools=(made("look"),))
    assert "- 'look' was called 2 times with the same arguments, {\"id\": 1}; each got the same result." in said
    assert "1 call of 'look' ran with arguments that had to be mended first." in said


async def test_other_results_of_the_same_call_are_told() -> None:
    count = iter("ab")

    @tool(side_effects=False)
    def look() -> str:
        """Say another letter each time."""
        return next(count)

    said = await reported(Call("look"), Call("look"), Say("Fine."), tools=(look,))
    assert "'look' was called 2 times with the same arguments, {}; the results differ." in said


@pytest.mark.parametrize(
    "nothing", ["", "null", "[]", "{}", " N/A ", '{"rows": [], "total": 0}', '[{"name": null}]', "None"]
)
async def test_empty_results_are_told(nothing: str) -> None:
    said = await reported(Call("look", {"id": 7}), Say("?"), tools=(made("look", answer=nothing),))
    assert "'look' gave an empty result in 1 of 1 call, first for {\"id\":7}." in said


@pytest.mark.parametrize("something", ["0", "false", "done", '{"total": 3, "rows": []}', "nothing found"])
async def test_results_that_say_something_are_not_empty(something: str) -> None:
    said = await reported(Call("look", {"id": 7}), Say("?"), tools=(made("look", answer=something),))
    assert "empty" not in said


async def test_fields_that_no_result_fills_in_are_told() -> None:
    rows = '[{"name": "a", "price": null, "tags": []}, {"name": "b", "price": "", "tags": ["x"]}]'
    said = await reported(Call("look", {"id": 7}), Say("?"), tools=(made("look", answer=rows),))
    assert "'look' never filled in 'price' in the 2 objects that it returned." in said
    assert "'tags'" not in said


async def test_arguments_that_do_not_fit_are_told_with_the_problem() -> None:
    said = await reported(Call("look", {"id": "x"}), Call("look", {"id": 1}), Say("Fine."), tools=(made("look"),))
    assert "- 1 of 2 calls of 'look' had arguments that do not fit: id: expected integer, got \"x\"." in said
    assert "was refused" not in said


async def test_calls_that_failed_or_were_refused_are_told_in_their_words() -> None:
    @tool
    async def breaks() -> str:
        """Break, which is all it can do."""
        raise ValueError("no luck")

    steps = (Call("breaks"), Call("look", {"id": 1}), Call("lok"), Say("Sorry."))
    said = await reported(*steps, tools=(breaks, made("look", permission="boss")))
    assert "- A call of 'breaks' failed: ValueError: no luck" in said
    assert "- A call of 'look' was refused: Not run: 'look' takes the role 'boss'" in said
    assert "- Not offered: 'look' takes the role 'boss', which the user of this run has not." in said
    assert "- The model called 'lok', which it was not offered." in said


async def test_tools_that_were_not_called_are_told_with_what_may_be_why() -> None:
    tools = (
        made("look_up", "Look up an order by its id."),
        made("lookup", "Look up an order by its number."),
        made("pay", "Pay."),
        made("stay", "Stay away from all that has to do with money."),
        Tool(
            "bare",
            "Do what has to be done with a thing.",
            {"type": "object", "properties": {"x": {}, "y": True}},
            print,
        ),
    )
    said = await reported(Call("look_up", {"id": 1}), Say("Fine."), tools=tools)
    assert "- Offered, but never called: 'lookup', 'pay', 'stay', 'bare'." in said
    assert "- The names 'look_up' and 'lookup' are nearly the same; models take one for the other." in said
    assert "- The descriptions of 'look_up' and 'lookup' say nearly the same" in said
    assert "- The description of 'pay' is short ('Pay.')" in said
    assert "- Parameters of 'bare' have no description: 'x'." in said
    assert "'stay' " not in said


async def test_too_many_tools_are_told() -> None:
    tools = tuple(
        made(f"tool_{letter * 8}", f"Do {letter * 9} {letter * 7}, and nothing else.") for letter in "abcdefghijklmnop"
    )
    said = await reported(Say("Fine."), tools=tools)
    assert "- 16 tools were offered; models choose worse among more than 15." in said


async def test_tools_that_the_turn_did_not_have_are_told_with_the_list_that_left_them_out() -> None:
    tools = (made("look"), made("pay", group="money"), made("hidden"))
    agents = (AgentSpec("clerk", tools=("look", "pay")),)
    said = await reported(Say("Fine."), tools=tools, agents=agents, fields={"agent": "clerk", "tools": ["look"]})
    assert "because the request's list of tools does not have them: 'pay', 'hidden'. The list was ['look']." in said
    said = await reported(
        Say("Fine."), tools=tools, agents=agents, fields={"agent": "clerk", "tools": ["look", "group:money", "hidden"]}
    )
    assert "- 1 tool registered now, but not offered in this run: 'hidden'. Look at the tools of the agent" in said
    assert "the agent 'clerk', and at policy.rules." in said


@pytest.mark.parametrize("written", ['look({"id": 1})', '{"name": "look", "arguments": {}}', "<look>1</look>"])
async def test_a_call_that_was_written_as_text_is_told(written: str) -> None:
    said = await reported(Say(f"I will do it: {written}"), tools=(made("look"),))
    assert "- In round 1 the model wrote a call of 'look' as text." in said
    assert "as text" not in await reported(Say("I look at it."), tools=(made("look"),))


async def test_a_growing_prompt_is_told_with_the_results_that_made_it_grow() -> None:
    steps = (Say(calls=(Call("long", {"id": 1}),), usage=Usage(500, 1)), Say("Fine.", usage=Usage(12_500, 1)))
    said = await reported(*steps, tools=(made("long", answer="x" * 15_000), made("look")))
    assert (
        "- The prompt grew from 500 to 12,500 tokens in 2 rounds. The largest results, in characters: 'long: 15,000'."
        in said
    )


async def test_slow_steps_are_told_with_their_share() -> None:
    clock = FakeClock()

    @tool(side_effects=False)
    async def slow() -> str:
        """Take ten seconds of the clock."""
        clock.move(10)
        return "fine"

    async with world(ScriptedModel(Call("slow"), Say("Fine.")), tools=(slow,), clock=clock) as there:
        run_id = await there.send()
        await there.events(run_id)
        run = await read_run(there.store, run_id)
    took = {ModelFinished: 2_400, ToolFinished: 4_000}  # these are measured by a clock that tests cannot move
    entries = [
        msgspec.structs.replace(each, duration_ms=took[type(each)])
        if isinstance(each, ModelFinished | ToolFinished)
        else each
        for each in run.entries
    ]
    said = report(msgspec.structs.replace(run, entries=tuple(entries)))
    assert "stop; 2 rounds, 1 call, 10.0 s" in said
    assert "- A call of 'slow' took 4.0 s, 40 % of the run's time." in said
    assert "The model call of" not in said  # 24 % each


async def test_what_was_tried_again_is_told() -> None:
    steps = (Say("First."), Restarted("a", Say("Second.")), Fail(ModelUnavailable("not there")))
    async with world(ScriptedModel(*steps)) as there:
        runs: list[str] = []
        for _ in range(3):
            runs.append(await there.send())
            await there.events(runs[-1])
        said = [await told(there, run_id) for run_id in runs]
    assert "Nothing odd was found." in said[0]
    assert "- Round 1 took 1 further attempt: the model was asked again." in said[1]
    assert "- The model call of round 1 failed (model_unavailable): not there" in said[2]
    assert "model_unavailable: not there; 1 round" in said[2]


async def test_rejected_answers_and_cut_calls_are_told() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    bad, good = Call("final_answer", {"n": "x"}), Say(calls=(Call("final_answer", {"n": 1}),), cut_calls=2)
    said = await reported(bad, good, tools=(made("look"),), fields={"output_schema": schema})
    assert "- The answer of round 1 did not fit its schema: " in said
    assert "- 2 calls came incomplete, cut off by the limit of tokens; raise maxTokens." in said
    assert "- Offered, but never called: 'look'." in said


async def test_waiting_for_a_person_is_told_while_it_lasts_and_after() -> None:
    async with world(
        ScriptedModel(Call("look", {"id": 1}), Say("Fine.")), tools=(made("look", approval=True),)
    ) as there:
        run_id = await there.send()
        question = await there.question(run_id)
        await there.stands(run_id, "waiting_approval")
        said = await told(there, run_id)
        assert "not over; 1 round, 1 call" in said
        assert "- A call of 'look' waits for a person." in said
        there.clock.move(90)
        await there.decide(question)
        await there.events(run_id)
        said = await told(there, run_id)
    assert "stop; 2 rounds, 1 call, 90.0 s, of which 90.0 s waiting" in said
    assert "- A call of 'look' waited 90.0 s for a person: approved." in said
