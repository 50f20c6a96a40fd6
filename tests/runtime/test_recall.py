"""What was left out of a long result can be read on, from the journal, at any later time."""

import re
from typing import Any

from talaria import Agent, Tool, tool
from talaria.core.redaction import MASK
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.recall import RECALL
from tests.runtime.world import World, end_of, world

TEXT = "".join(f"line {at:04}\n" for at in range(100))
LIMITS: dict[str, Any] = {"toolResultLimit": 300}


@tool(side_effects=False)
def report() -> str:
    """Give a long report."""
    return f"{TEXT}hush-hush-123"


async def results(here: World, **fields: Any) -> list[str]:
    events = await here.ask(**fields)
    assert end_of(events) == ("finish", "stop")
    return [each.result for event in events for each in event.tool_results or ()]


def offered(model: ScriptedModel) -> list[list[str]]:
    return [[spec.name for spec in request.prompt.tools] for request in model.requests]


async def test_the_rest_of_a_result_can_be_read_also_in_a_later_turn_and_process(sqlite: str) -> None:
    model = ScriptedModel(Call("report", id="c1"), Say("On."))
    async with world(model, tools=[report], store=sqlite, limits=LIMITS) as here:
        (short,) = await results(here, tool_context={"key": "hush-hush-123"})
    assert 'left out; recall(call_id="c1", offset=200) shows them' in short
    steps = [Call(RECALL, {"call_id": "c1", "offset": offset}) for offset in range(200, 1000, 300)]
    model = ScriptedModel(*steps, Call(RECALL, {"call_id": "c1", "offset": 990, "limit": 12}), Say("Read."))
    async with world(model, tools=[report], store=sqlite, limits=LIMITS) as here:
        told = await results(here)
    assert [re.sub(r"\n.*", "", each, flags=re.DOTALL) for each in told] == [
        "[characters 200 to 500 of 1008; go on with offset 500]",
        "[characters 500 to 800 of 1008; go on with offset 800]",
        "[characters 800 to 1008 of 1008, its end]",
        "[characters 990 to 1002 of 1008; go on with offset 1002]",
    ]
    read = "".join(each.partition("\n")[2] for each in told[:3])
    assert read == f"{TEXT}{MASK}"[200:]


async def test_what_there_is_not_is_told() -> None:
    model = ScriptedModel(
        Call("report", id="c1"),
        Call(RECALL, {"call_id": "c9"}),
        Call(RECALL, {"call_id": "c1", "offset": 5000}),
        Say("On."),
    )
    async with world(model, tools=[report], limits=LIMITS) as here:
        told = await results(here)
    assert "no shortened result of a call 'c9'" in told[1]
    assert "the result has 1013 characters; offset must be less" in told[2]


async def test_the_tools_are_the_same_before_and_after_a_result_was_shortened() -> None:
    model = ScriptedModel(Call("report"), Say("On."))
    async with world(model, tools=[report], limits=LIMITS) as here:
        await results(here)
    assert offered(model) == [["report", "AskUser", RECALL]] * 2


async def test_without_tools_or_when_turned_off_it_is_not_offered() -> None:
    model = ScriptedModel(Say("A."), Say("B."))
    async with world(model, tools=[report]) as here:
        await here.ask(tools=[])
    async with world(model, tools=[report], limits={"recall": False}) as here:
        await here.ask()
    assert offered(model) == [[], ["report", "AskUser"]]


async def test_a_tool_of_ones_own_of_this_name_goes_first() -> None:
    own = Tool(RECALL, "Remember.", {"type": "object"}, lambda: TEXT)
    model = ScriptedModel(Call(RECALL), Say("On."))
    async with world(model, agents=[Agent("a", tools=[own])], limits=LIMITS) as here:
        (short,) = await results(here, agent="a")
    assert "left out …" in short
    assert offered(model) == [[RECALL]] * 2
