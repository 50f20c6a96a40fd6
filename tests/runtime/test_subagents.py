"""Subagents: tasks in the run's own journal, with a context of their own, and questions that reach people."""

import asyncio
from typing import Any

import pytest
from inline_snapshot import snapshot

from talaria import Agent, tool
from talaria.core.events import write_position
from talaria.core.messages import UserMessage
from talaria.core.subagents import Subagent
from talaria.live.frames import Frame
from talaria.ports.model import ModelRequest
from talaria.testing.clock import FakeClock
from talaria.testing.scripted_model import Call, Say, ScriptedModel, Step
from tests.runtime.world import ME, end_of, kinds, told, world

RESEARCHER = Subagent("researcher", "Looks things up.", "You look things up.")


@tool(side_effects=False)
def look_up(what: str) -> str:
    """Look something up."""
    return f"found {what}"


@tool(approval=True)
def send(to: str) -> str:
    """Send it."""
    return f"sent to {to}"


def task(prompt: str, name: str = "researcher", **more: Any) -> Call:
    return Call("Task", {"description": "a task", "prompt": prompt, "subagent_type": name, **more})


def first(request: ModelRequest) -> str:
    message = request.prompt.messages[0]
    assert isinstance(message, UserMessage)
    return getattr(message.parts[0], "text", "")


def by_thread(**steps: list[Step]) -> ScriptedModel:
    return ScriptedModel(script=lambda request: steps[first(request).split()[0]].pop(0))


NESTED = Agent("lead", tools=[look_up, send], subagents=[RESEARCHER, Subagent("boss", "Has others work.")])
AGENT = Agent("lead", tools=[look_up, send], subagents=[RESEARCHER])
CONFIG: dict[str, Any] = {"limits": {"maxDepth": 3}}


async def test_a_task_has_a_context_of_its_own_and_its_caller_gets_the_last_text_only() -> None:
    model = by_thread(
        main=[task("one find it"), Say("Done.")], one=[Call("look_up", {"what": "it"}), Say("It is there.")]
    )
    async with world(model, agents=[AGENT]) as w:
        events = await w.ask("main question")
    assert kinds(events) == snapshot(
        [
            "run_started",
            "tool_call",
            "tool_started",
            "subagent_run_started",
            "subagent_tool_call",
            "subagent_tool_started",
            "subagent_tool_result",
            "subagent_token",
            "subagent_finish",
            "tool_result",
            "token",
            "finish",
        ]
    )
    assert end_of(events) == ("finish", "stop")
    theirs = [request for request in model.requests if first(request).startswith("one")]
    assert [len(each) for each in model.prompts[1:3]] == [1, 3]
    assert "You look things up." in theirs[0].prompt.system
    assert [spec.name for spec in theirs[0].prompt.tools] == ["look_up", "send", "recall"]
    assert getattr(model.prompts[-1][-1], "text", None) == "It is there."
    assert events[-1].usage is not None
    assert events[-1].usage.input_tokens == 40


@pytest.mark.parametrize("url", ["memory://", "sqlite"])
async def test_a_question_of_a_task_three_levels_deep_is_answered_after_a_restart(url: str, sqlite: str) -> None:
    store, clock = sqlite if url == "sqlite" else url, FakeClock()
    steps: dict[str, list[Step]] = {
        "main": [task("one go", "boss"), Say("All sent.")],
        "one": [task("two go", "boss"), Say("one is done")],
        "two": [task("three go"), Say("two is done")],
        "three": [Call("send", {"to": "Ann"}), Say("three is done")],
    }
    model = ScriptedModel(script=lambda request: steps[first(request).split()[0]].pop(0))
    if url == "memory://":
        async with world(model, agents=[NESTED], clock=clock, **CONFIG) as w:
            run = await w.send("main")
            asked = await w.until(run, "subagent_approval_request")
            await w.stands(run, "waiting_approval")
            await w.decide(str(asked.data))
            assert end_of(await w.events(run)) == ("finish", "stop")
        return
    async with world(model, agents=[NESTED], clock=clock, store=store, **CONFIG) as w:
        run = await w.send("main")
        asked = await w.until(run, "subagent_approval_request")
        assert (asked.name, asked.task_id is not None) == ("researcher", True)
        await w.stands(run, "waiting_approval")
    async with world(model, agents=[NESTED], clock=clock, store=store, **CONFIG) as w:
        assert [each["requestId"] for each in await w.parts.lookup.approvals(ME)] == [asked.data]
        await w.decide(str(asked.data))
        events = await w.events(run)
    assert end_of(events) == ("finish", "stop")
    assert told(events) == snapshot(
        [
            "run_started",
            'tool_call Task{"description":"a task","prompt":"one go","subagent_type":"boss"}',
            "tool_started Task",
            "subagent_run_started",
            "subagent_tool_call",
            "subagent_tool_started",
            "subagent_run_started",
            "subagent_tool_call",
            "subagent_tool_started",
            "subagent_run_started",
            "subagent_tool_call",
            "subagent_approval_request",
            "subagent_approval_resolved",
            "tool_started Task",
            "subagent_tool_started",
            "subagent_tool_started",
            "subagent_tool_started",
            "subagent_tool_result",
            "subagent_token",
            "subagent_finish",
            "subagent_tool_result",
            "subagent_token",
            "subagent_finish",
            "subagent_tool_result",
            "subagent_token",
            "subagent_finish",
            "tool_result Task: one is done",
            "token All sent.",
            "finish stop",
        ]
    )
    assert not any(steps.values())


async def test_several_tasks_work_side_by_side_and_one_that_waits_holds_up_no_other() -> None:
    gate = asyncio.Event()
    model = by_thread(
        main=[Say(calls=(task("one a"), task("two b"))), Say("Done.")],
        one=[Call("send", {"to": "Ann"}), Say("one")],
        two=[Say("begins, and ends", chunk=8, gate=gate)],
    )
    async with world(model, agents=[AGENT]) as w:
        run = await w.send("main")
        asked = await w.until(run, "subagent_approval_request")
        await w.decide(str(asked.data))
        await w.until(run, "subagent_finish")
        gate.set()
        events = await w.events(run)
    assert end_of(events) == ("finish", "stop")
    assert [getattr(m, "text", None) for m in model.prompts[-1][-2:]] == ["one", "begins, and ends"]


async def test_a_cancel_ends_tasks_too_and_everything_has_its_end() -> None:
    gate = asyncio.Event()
    model = by_thread(main=[task("one a")], one=[Say("begins, and never ends", chunk=8, gate=gate)])
    async with world(model, agents=[AGENT]) as w:
        run = await w.send("main")
        await w.until(run, "subagent_token")
        await w.cancel(run)
        events = await w.events(run)
        assert end_of(events) == ("finish", "cancelled")
        assert [e.reason for e in events if e.type == "subagent_finish"] == ["cancelled"]
        assert "TaskFinished" in await w.tales()


async def test_a_task_in_the_background_is_waited_for_when_its_output_is_wanted() -> None:
    gate = asyncio.Event()
    model = by_thread(
        main=[
            task("one a", run_in_background=True),
            Call("TaskOutput", {"task_id": "researcher:scripted_1", "block": False}),
            Call("TaskOutput", {"task_id": "researcher:scripted_1"}),
            Say("Done."),
        ],
        one=[Say("begins, and ends", chunk=8, gate=gate)],
    )
    async with world(model, agents=[AGENT]) as w:
        run = await w.send("main")
        await w.until(run, "subagent_token")
        await model.wait_until(lambda: len(model.requests) >= 4)
        gate.set()
        events = await w.events(run)
    assert end_of(events) == ("finish", "stop")
    results = [getattr(m, "text", "") for m in model.prompts[-1] if type(m).__name__ == "ToolMessage"]
    assert "its id is researcher:scripted_1" in results[0]
    assert "not over yet" in results[1]
    assert results[2] == "begins, and ends"


async def test_a_question_of_a_task_in_the_background_is_answered_while_its_caller_waits_for_it() -> None:
    model = by_thread(
        main=[
            task("one a", run_in_background=True),
            Call("TaskOutput", {"task_id": "researcher:scripted_1"}),
            Say("Done."),
        ],
        one=[Call("send", {"to": "Ann"}), Say("sent")],
    )
    async with world(model, agents=[AGENT]) as w:
        run = await w.send("main")
        asked = await w.until(run, "subagent_approval_request")
        await w.stands(run, "waiting_approval")
        await w.decide(str(asked.data))
        events = await w.events(run)
    assert end_of(events) == ("finish", "stop")
    assert getattr(model.prompts[-1][-1], "text", None) == "sent"


async def test_what_a_client_has_is_the_same_from_every_event_on() -> None:
    model = by_thread(
        main=[
            Say("I ask them.", chunk=4, calls=(task("one a"), task("two b", run_in_background=True))),
            Say("And while two works I talk.", chunk=3),
            Say("Done."),
        ],
        one=[Say("looking", chunk=3, calls=(Call("look_up", {"what": "x"}),)), Say("one is done", chunk=3)],
        two=[Call("look_up", {"what": "y"}), Call("look_up", {"what": "z"}), Say("two is done", chunk=2)],
    )
    async with world(model, agents=[AGENT]) as w:
        run = await w.send("main")
        frames = await w.frames(run)
        whole = played(frames)
        for at, frame in enumerate(frames):
            if frame.position is not None:
                rest = await w.frames(run, frame.position)
                assert played([*frames[: at + 1], *rest]) == whole, (frame.position, frame.event)


def played(frames: list[Frame]) -> Any:
    """What a client that follows the rules has in the end: texts by thread, and the other events."""
    texts: dict[str, list[tuple[Any, str]]] = {}
    others: list[tuple[Any, ...]] = []
    order: list[str] = []
    for frame in frames:
        event = frame.event
        thread, kind = event.task_id or "", event.type.removeprefix("subagent_")
        if frame.position is not None:
            order.append(write_position(frame.position))
        if kind in ("token", "reasoning"):
            texts.setdefault(thread, []).append((len(order), str(event.data)))
        elif kind == "rewind":
            at = order.index(str(event.data).partition("/")[2]) + 1
            for each in [thread] if thread else [""]:
                texts[each] = [piece for piece in texts.get(each, []) if piece[0] <= at]
        elif kind != "heartbeat":
            others.append((thread, kind, repr(event)))
    return {thread: "".join(text for _, text in pieces) for thread, pieces in texts.items()}, sorted(others)
