"""Calls that fail at their arguments again and again: the model is told, then the operator."""

import json
from typing import Any

import structlog
from inline_snapshot import snapshot

from talaria import tool
from talaria.journal.entries import ApprovalRequested, ToolStarted
from talaria.telemetry.metrics import Metrics
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.health import ArgumentHealth, Failure
from tests.runtime.world import world


@tool(side_effects=False)
async def look(what: str, often: int = 1) -> str:
    """Look at something."""
    return f"{what} × {often}"


@tool(approval=True)
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def failing(health: ArgumentHealth, times: int, name: str = "look") -> None:
    for number in range(times):
        health.failed(Failure(f"run_{number}", name, "{}", "what: is missing"))


def suspects(logs: list[Any]) -> list[tuple[str, int, int]]:
    found = [line for line in logs if line["event"] == "tool_definition_suspect"]
    assert all(line["log_level"] == "warning" for line in found)
    return [(line["tool"], line["failed"], line["calls"]) for line in found]


def test_a_tool_of_whose_last_ten_calls_five_failed_is_reported_once_an_hour() -> None:
    clock = FakeClock()
    health = ArgumentHealth(clock.now, Metrics())
    with structlog.testing.capture_logs() as logs:
        failing(health, 4)
        health.passed("look")
        assert suspects(logs) == []
        failing(health, 3)
        assert suspects(logs) == [("look", 5, 6)]
        clock.move(3599)
        failing(health, 1)
        assert len(suspects(logs)) == 1
        clock.move(1)
        failing(health, 1)
        assert suspects(logs)[1:] == [("look", 9, 10)]


def test_failures_of_old_are_forgotten() -> None:
    health = ArgumentHealth(FakeClock().now, Metrics())
    with structlog.testing.capture_logs() as logs:
        failing(health, 4)
        for _ in range(7):
            health.passed("look")
        failing(health, 1)
    assert suspects(logs) == []
    assert health.counts("look") == (3, 10)
    assert health.counts("other") == (0, 0)


def test_only_the_same_failure_of_the_same_call_in_the_same_run_counts_as_the_same() -> None:
    health = ArgumentHealth(FakeClock().now, Metrics())
    first = Failure("run_1", "look", "{}", "what: is missing")
    assert [health.failed(first), health.failed(first)] == [1, 2]
    for other in (first._replace(run="run_2"), first._replace(arguments="{ }"), first._replace(message="?")):
        assert health.failed(other) == 1
    assert health.failed(first) == 3


async def test_a_call_that_fails_twice_the_same_way_is_told_so_with_the_schema() -> None:
    wrong = Call("look", {"waht": "shelf"})
    model = ScriptedModel(Say(calls=(wrong,)), Say(calls=(wrong,)), Say("I give up."))
    async with world(model, tools=[look]) as here:
        events = await here.ask()
        texts = [str(each.result) for event in events for each in event.tool_results or ()]
    assert texts[1].startswith(texts[0])
    told, _, schema = texts[1].removeprefix(texts[0] + "\n").partition(" The JSON Schema of its arguments: ")
    assert told == "This very call failed the same way before (2 times now); sending it again cannot help."
    assert json.loads(schema) == look.parameters


async def test_repairs_are_on_record_and_the_model_is_not_told() -> None:
    model = ScriptedModel(Say(calls=(Call("look", {"what": "shelf", "often": "2"}),)), Say("Done."))
    async with world(model, tools=[look]) as here:
        events = await here.ask()
        started = [entry for entry in await here.entries() if isinstance(entry, ToolStarted)]
        calls = [call for message in await here.messages() for call in message.get("toolCalls", ())]
    assert [entry.repairs for entry in started] == [("often: string to integer",)]
    assert [each.result for event in events for each in event.tool_results or ()] == ["shelf × 2"]
    assert '"2"' in calls[0]["arguments"]


async def test_a_person_is_asked_about_the_arguments_that_will_run() -> None:
    model = ScriptedModel(Say(calls=(Call("pay", '{"amount": "5",}'),)), Say("Done."))
    async with world(model, tools=[pay]) as here:
        run_id = await here.send()
        question = await here.question(run_id)
        asked = [entry for entry in await here.entries() if isinstance(entry, ApprovalRequested)]
        await here.decide(question)
        events = await here.events(run_id)
    assert [entry.arguments for entry in asked] == ['{"amount":5}']
    assert [each.result for event in events for each in event.tool_results or ()] == ["paid 5"]


async def test_one_bad_call_does_not_keep_its_siblings_from_running() -> None:
    given: tuple[dict[str, Any], ...] = (
        {"what": "a", "often": "5"},
        {"what": "a", "often": 5.0},
        {"what": "a", "often": 5.5},
        {"what": "a", "evil": 1},
        {"what": None},
    )
    calls = (*(Call("look", each) for each in given), Call("rm", {}))
    async with world(ScriptedModel(Say(calls=calls), Say("Done.")), tools=[look]) as here:
        events = await here.ask()
        answers = [message["content"] for message in await here.messages() if message["role"] == "tool"]
    assert events[-1].type == "finish"
    assert answers == snapshot(
        [
            "a × 5",
            "a × 5",
            """\
The arguments for look are not valid; correct them and call it again:
- often: expected integer, got 5.5\
""",
            """\
The arguments for look are not valid; correct them and call it again:
- evil: there is no such field; there are 'what', 'often'\
""",
            """\
The arguments for look are not valid; correct them and call it again:
- what: expected string, got null\
""",
            "no tool named 'rm'; there are 'look', 'AskUser', 'recall'",
        ]
    )


async def test_repairs_refusals_and_suspects_are_counted_by_tool() -> None:
    given = ('{"what": "a"}', '{"what": "a",}', '{"what": "a", "often": "2"}', '{"what": "a", "often": "2",}')
    wrong = (Call("look", {}),) * 5
    model = ScriptedModel(Say(calls=(*(Call("look", each) for each in given), *wrong, Call("rm", {}))), Say("Done."))
    async with world(model, tools=[look]) as here, world(ScriptedModel(), tools=[look]) as other:
        await here.ask()
        lines = here.runtime.parts.kit.metrics.render().decode().splitlines()
        nothing = other.runtime.parts.kit.metrics.render()
    assert {
        line for line in lines if line.startswith(("talaria_tool_arg", "talaria_tool_def")) and "_total{" in line
    } == {
        'talaria_tool_arguments_total{outcome="good",tool="look"} 4.0',
        'talaria_tool_arguments_total{outcome="invalid",tool="look"} 5.0',
        'talaria_tool_arguments_mended_total{tool="look"} 2.0',
        'talaria_tool_arguments_coerced_total{tool="look"} 2.0',
        'talaria_tool_definition_suspects_total{tool="look"} 1.0',
    }
    assert b'tool="look"' not in nothing
