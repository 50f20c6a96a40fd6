"""Plans: kept as state, shown to clients, and said to the model once for each change."""

from collections.abc import Sequence
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, ChatEvent, tool
from talaria.core.messages import ToolMessage, UserMessage
from talaria.core.subagents import Subagent
from talaria.journal.entries import PlanSet
from talaria.ports.model import ModelRequest
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel, Step
from tests.runtime.world import end_of, kinds, told, world


@tool(side_effects=False)
def look_up(what: str) -> str:
    """Look something up."""
    return f"found {what}"


@tool(approval=True)
def send(to: str) -> str:
    """Send it."""
    return f"sent to {to}"


PLANNER = Agent("planner", tools=["TodoWrite", look_up, send])
STEPS = ("Read the orders", "Add them up", "Tell")


def plan(at: int, steps: tuple[str, ...] = STEPS) -> Call:
    """The plan with the first `at` steps done."""
    status = ["completed"] * at + ["in_progress"] + ["pending"] * len(steps)
    return Call("TodoWrite", {"todos": [{"content": step, "status": status[n]} for n, step in enumerate(steps)]})


def first(request: ModelRequest) -> str:
    message = request.prompt.messages[0]
    assert isinstance(message, UserMessage)
    return getattr(message.parts[0], "text", "")


def todos(events: list[ChatEvent]) -> list[Any]:
    return [event.data for event in events if event.type.endswith("todo")]


def said(messages: Sequence[object], name: str = "TodoWrite") -> list[str]:
    return [message.text for message in messages if isinstance(message, ToolMessage) and message.name == name]


def sent(messages: Sequence[object]) -> list[str]:
    """What the harness adds to each message of the user, times aside."""
    return [message.sent.rpartition("[Sent ")[0].strip() for message in messages if isinstance(message, UserMessage)]


async def test_a_request_in_steps_is_worked_off_by_the_plan() -> None:
    model = ScriptedModel(plan(0), Call("look_up", {"what": "orders"}), plan(1), plan(2), plan(3), Say("42."))
    async with world(model, agents=[PLANNER]) as w:
        events = await w.ask("Sum up the orders")
        assert end_of(events) == ("finish", "stop")
        again = await w.events(events[0].data)
        assert [type(each) for each in await w.entries()].count(PlanSet) == 4
    assert said(model.prompts[-1]) == snapshot(
        [
            (
                '[Plan: step 1 of 3 is under way: "Read the orders". Follow the plan: do this step now, '
                'and do not plan anew; once it is done, say so with TodoWrite. Next: "Add them up".]'
            ),
            (
                '[Plan: step 2 of 3 is under way: "Add them up". Follow the plan: do this step now, and do '
                'not plan anew; once it is done, say so with TodoWrite. Next: "Tell".]'
            ),
            (
                '[Plan: step 3 of 3 is under way: "Tell". Follow the plan: do this step now, and do not '
                "plan anew; once it is done, say so with TodoWrite.]"
            ),
            "[Plan: all 3 steps are completed. Finish with your answer.]",
        ]
    )
    assert todos(events)[1] == snapshot(
        [
            {"content": "Read the orders", "status": "completed"},
            {"content": "Add them up", "status": "in_progress"},
            {"content": "Tell", "status": "pending"},
        ]
    )
    assert len(todos(events)) == 4
    assert told(events)[1:5] == snapshot(
        [
            (
                'tool_call TodoWrite{"todos":[{"content":"Read the '
                'orders","status":"in_progress"},{"content":"Add them '
                'up","status":"pending"},{"content":"Tell","status":"pending"}]}'
            ),
            "tool_started TodoWrite",
            "todo",
            (
                'tool_result TodoWrite: [Plan: step 1 of 3 is under way: "Read the orders". Follow the '
                "plan: do this step now, and do not plan anew; once it is done, say so with TodoWrite. "
                'Next: "Add them up".]'
            ),
        ]
    )
    assert again == events
    assert len({request.prompt.system for request in model.requests}) == 1


async def test_a_plan_that_is_the_same_is_said_only_once() -> None:
    model = ScriptedModel(plan(1), plan(1), Say("Done."))
    async with world(model, agents=[PLANNER]) as w:
        events = await w.ask()
        assert kinds(events).count("todo") == 1
    assert said(model.prompts[-1])[1:] == ["The plan is as it was."]


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (["in_progress", "in_progress"], "2 steps are in_progress"),
        (["pending", "completed"], "0 steps are in_progress"),
        (["doing", "completed"], "todos"),
    ],
)
async def test_a_plan_without_exactly_one_step_under_way_is_refused(status: list[str], problem: str) -> None:
    wrong = Call("TodoWrite", {"todos": [{"content": "Do", "status": each} for each in status]})
    model = ScriptedModel(plan(0), wrong, Say("Done."))
    async with world(model, agents=[PLANNER]) as w:
        events = await w.ask()
        assert len(todos(events)) == 1
    assert problem in said(model.prompts[-1])[1]
    assert [message.is_error for message in model.prompts[-1] if isinstance(message, ToolMessage)] == [False, True]


async def test_a_plan_may_be_dropped_and_one_that_is_done_is_said_to_be() -> None:
    model = ScriptedModel(plan(3), Call("TodoWrite", {"todos": []}), Say("Done."), Say("Hello."))
    async with world(model, agents=[PLANNER]) as w:
        await w.ask()
        await w.ask("Hi")
    assert said(model.prompts[-1]) == snapshot(
        ["[Plan: all 3 steps are completed. Finish with your answer.]", "There is no plan any more."]
    )
    assert sent(model.prompts[-1]) == ["", ""]


async def test_the_next_turn_is_told_of_an_open_plan_once() -> None:
    model = ScriptedModel(plan(1), Say("Half."), Say("What?"), Say("What?"), Say("What?"))
    async with world(model, agents=[PLANNER]) as w:
        for query in ("Sum up", "And?", "Hm?", "Hm?"):
            await w.ask(query)
    before, after = model.prompts[-2], model.prompts[-1]
    assert after[: len(before)] == before
    assert sent(after) == snapshot(
        [
            "",
            (
                '[Plan, from before this message: step 2 of 3 is under way: "Add them up". If the message '
                "goes on with it, go on at this step; do not plan anew.]"
            ),
            "",
            "",
        ]
    )


async def test_a_plan_is_there_after_a_restart_and_a_cancel(sqlite: str) -> None:
    clock = FakeClock()
    async with world(
        ScriptedModel(plan(1), Call("send", {"to": "Ann"})), agents=[PLANNER], clock=clock, store=sqlite
    ) as w:
        run = await w.send()
        await w.question(run)
        await w.stands(run, "waiting_approval")
    model = ScriptedModel(Say("On with it."))
    async with world(model, agents=[PLANNER], clock=clock, store=sqlite) as w:
        await w.cancel(run)
        assert end_of(await w.events(run)) == ("finish", "cancelled")
        await w.ask("Go on")
    assert "step 2 of 3" in said(model.prompts[-1])[0]
    assert "step 2 of 3" in sent(model.prompts[-1])[1]


async def test_a_session_that_begins_anew_has_no_plan() -> None:
    clock = FakeClock()
    model = ScriptedModel(plan(0), Say("Begun."), Say("Hello."))
    async with world(model, agents=[PLANNER], clock=clock, sessions={"idleTtl": 60}) as w:
        await w.ask()
        clock.move(61)
        await w.ask("Hi")
    assert sent(model.prompts[-1]) == [""]


async def test_a_subagent_has_a_plan_of_its_own() -> None:
    task = Call("Task", {"description": "a task", "prompt": "theirs", "subagent_type": "helper"})
    steps: dict[str, list[Step]] = {
        "mine": [plan(0), task, Say("Done.")],
        "theirs": [plan(0, ("Dig", "Fill")), plan(1, ("Dig", "Fill")), Say("Dug.")],
    }
    model = ScriptedModel(script=lambda request: steps[first(request)].pop(0))
    agent = Agent("planner", tools=["TodoWrite", look_up], subagents=[Subagent("helper", "Helps.")])
    async with world(model, agents=[agent]) as w:
        events = await w.ask("mine")
        assert end_of(events) == ("finish", "stop")
        plans = [(each.task, len(each.plan)) for each in await w.entries() if isinstance(each, PlanSet)]
    assert [(event.type, event.name) for event in events if event.type.endswith("todo")] == [
        ("todo", None),
        ("subagent_todo", "helper"),
        ("subagent_todo", "helper"),
    ]
    assert [(bool(task), steps) for task, steps in plans] == [(False, 3), (True, 2), (True, 2)]
    assert said(model.prompts[-1])[-1:] == said(model.prompts[1])


async def test_it_is_offered_to_those_who_name_it_only() -> None:
    model = ScriptedModel(Say("a"), Say("b"))
    async with world(model, tools=[look_up]) as w:
        await w.ask()
        await w.ask(tools=["group:plan"])
    names = [[spec.name for spec in request.prompt.tools] for request in model.requests]
    assert names == [["look_up", "AskUser", "recall"], ["TodoWrite", "recall"]]
