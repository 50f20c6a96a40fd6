"""What a tool says while it runs reaches the client at once, masked, and again when the stream is replayed."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from talaria import ChatEvent, ToolContext, tool
from talaria.core.redaction import MASK, Redactor
from talaria.journal.entries import Emitted, ToolOutput
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import Tool
from talaria.tools.outlet import ALL_EVENTS_BYTES, EVENT_BYTES, PIECE, mask_value
from tests.runtime.world import end_of, kinds, soon, world

SECRET = "hush-hush-123"
Body = Callable[[ToolContext], Any]


def on_loop(body: Body) -> Tool[..., Any]:
    @tool
    async def talk(ctx: ToolContext) -> Any:
        """Talk."""
        return body(ctx)

    return talk


def on_thread(body: Body) -> Tool[..., Any]:
    @tool
    def talk(ctx: ToolContext) -> Any:
        """Talk."""
        return body(ctx)

    return talk


either = pytest.mark.parametrize("make", [on_loop, on_thread])


def customs(events: list[ChatEvent]) -> list[tuple[Any, Any]]:
    return [(event.name, event.data) for event in events if event.type == "custom"]


def output(events: list[ChatEvent]) -> str:
    return "".join(event.data for event in events if event.type == "tool_output")


def result(events: list[ChatEvent]) -> str:
    return next(each.result for event in events for each in event.tool_results or ())


def talking() -> ScriptedModel:
    return ScriptedModel(Call("talk"), Say("On."))


@either
async def test_what_a_tool_says_comes_between_its_start_and_its_result(
    make: Callable[[Body], Tool[..., Any]], store: str
) -> None:
    def body(ctx: ToolContext) -> str:
        ctx.output("one ")
        ctx.emit("progress", {"done": 1, "of": [2, None]})
        ctx.output("two")
        ctx.emit("bare")
        return "done"

    async with world(talking(), tools=[make(body)], store=store) as here:
        run_id = await here.send()
        events = await here.events(run_id)
        again = await here.events(run_id)
        entries = await here.entries()
    told = [kind for kind in kinds(events) if kind != "token"]
    began, ended = told.index("tool_started"), told.index("tool_result")
    assert told[began + 1 : ended] == ["tool_output", "custom", "tool_output", "custom"]
    assert customs(events) == [("progress", {"done": 1, "of": [2, None]}), ("bare", None)]
    assert output(events) == "one two"
    assert {event.tool_call_id for event in events if event.type == "tool_output"} == {
        each.id for event in events for each in event.tool_results or ()
    }
    assert again == events
    assert [type(entry) for entry in entries if isinstance(entry, Emitted | ToolOutput)] == [
        ToolOutput,
        Emitted,
        ToolOutput,
        Emitted,
    ]


async def test_text_and_events_come_while_the_tool_still_runs() -> None:
    go_on = threading.Event()

    @tool
    def talk(ctx: ToolContext) -> str:
        """Talk."""
        ctx.output("first")
        ctx.emit("seen")
        assert go_on.wait(10)
        return "done"

    async with world(talking(), tools=[talk]) as here:
        run_id = await here.send()
        assert (await here.until(run_id, "tool_output")).data == "first"
        assert (await here.until(run_id, "custom")).name == "seen"
        go_on.set()
        assert end_of(await here.events(run_id)) == ("finish", "stop")


async def test_many_small_pieces_are_gathered() -> None:
    def body(ctx: ToolContext) -> str:
        for at in range(1000):
            ctx.output(f"{at} ")
        return "done"

    async with world(talking(), tools=[on_loop(body)]) as here:
        events = await here.ask()
    assert output(events) == "".join(f"{at} " for at in range(1000))
    assert kinds(events).count("tool_output") <= 5


async def test_more_output_than_the_limit_is_cut_with_a_note() -> None:
    def body(ctx: ToolContext) -> str:
        for _ in range(100):
            ctx.output("x" * 200)
        return "done"

    async with world(talking(), tools=[on_loop(body)], limits={"toolResultLimit": 5000}) as here:
        events = await here.ask()
    text = output(events)
    assert text.count("x") == 5000
    assert "more than 5000 characters" in text
    assert max(len(event.data) for event in events if event.type == "tool_output") <= PIECE


@either
async def test_secrets_are_masked_across_pieces_and_in_events(make: Callable[[Body], Tool[..., Any]]) -> None:
    def body(ctx: ToolContext) -> str:
        for char in f"key {ctx.secrets['key']} and {ctx.secrets['key']}":
            ctx.output(char)
        ctx.emit(SECRET, {SECRET: [f"<{SECRET}>", 4444444]})
        return "done"

    async with world(talking(), tools=[make(body)]) as here:
        events = await here.ask(tool_context={"key": SECRET, "number": "4444444"})
    assert output(events) == f"key {MASK} and {MASK}"
    assert customs(events) == [(MASK, {MASK: [f"<{MASK}>", MASK]})]


async def test_what_is_too_large_or_no_json_is_refused() -> None:
    def body(ctx: ToolContext) -> str:
        refused: list[str] = []
        for name, data in [("", 1), ("n" * 129, 1), ("n", "x" * EVENT_BYTES), ("n", object()), ("n", b"x")]:
            try:
                ctx.emit(name, data)
            except (TypeError, ValueError) as error:
                refused.append(type(error).__name__)
        return ",".join(refused)

    async with world(talking(), tools=[on_thread(body)]) as here:
        events = await here.ask()
    assert result(events) == "ValueError,ValueError,ValueError,TypeError,TypeError"
    assert customs(events) == []


async def test_all_events_of_a_call_have_a_limit_together() -> None:
    def body(ctx: ToolContext) -> str:
        while True:
            ctx.emit("more", "x" * 30_000)

    async with world(talking(), tools=[on_loop(body)]) as here:
        events = await here.ask()
    assert f"exceed {ALL_EVENTS_BYTES} bytes" in result(events)
    assert len(customs(events)) == ALL_EVENTS_BYTES // 30_066


async def test_what_a_thread_says_that_was_left_behind_is_dropped() -> None:
    go_on, said = threading.Event(), threading.Event()

    @tool(timeout=0.05)
    def talk(ctx: ToolContext) -> str:
        """Talk."""
        ctx.output("early")
        go_on.wait(10)
        ctx.emit("late")
        ctx.output("late")
        said.set()
        return "done"

    async with world(talking(), tools=[talk]) as here:
        events = await here.ask()
        go_on.set()
        await soon(said.is_set, "the thread having spoken")
        await asyncio.sleep(0)
        assert not any(isinstance(entry, Emitted) for entry in await here.entries())
    assert output(events) == "early"
    assert end_of(events) == ("finish", "stop")


def test_a_context_of_no_run_says_nothing() -> None:
    ToolContext().emit("progress", 1)
    ToolContext().output("text")


def test_only_values_that_hold_a_secret_change() -> None:
    value = {"a": [1, 2.5, True, None, "x"], "n": 123456.5}
    assert mask_value(Redactor({"s": "123456"}), value) == value | {"n": f"{MASK}.5"}
    assert mask_value(Redactor({}), value) is value
