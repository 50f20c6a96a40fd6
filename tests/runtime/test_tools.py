"""Whatever a tool does, the run goes on and its history stays valid."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from talaria import ToolContext, tool
from talaria.journal.entries import ToolFinished
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import Tool
from tests.runtime.world import assert_valid_wire, bounded, end_of, soon, world


class Unprintable(Exception):
    """Cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Own(BaseException):
    """Not an Exception."""


def raiser(error: BaseException | type[BaseException]) -> Tool[..., Any]:
    @tool
    async def odd() -> str:
        """Do something odd."""
        raise error

    return odd


def blocking_raiser(error: BaseException | type[BaseException]) -> Tool[..., Any]:
    @tool
    def odd() -> str:
        """Do something odd."""
        raise error

    return odd


ERRORS: list[Any] = [
    ValueError("no \ud800 good"),
    Unprintable(),
    KeyError("x"),
    TimeoutError(),
    SystemExit(3),
    KeyboardInterrupt(),
    GeneratorExit(),
    Own("own"),
    asyncio.CancelledError(),
    BaseExceptionGroup("many", [Own(), ValueError()]),
    StopAsyncIteration(),
    StopIteration(),
]


@pytest.mark.parametrize("make", [raiser, blocking_raiser])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_whatever_a_tool_raises_the_model_is_told_and_the_run_goes_on(
    make: Callable[[Any], Tool[..., Any]], error: BaseException
) -> None:
    model = ScriptedModel(Say(calls=(Call("odd"), Call("odd"))), Say("On."))
    async with world(model, tools=[make(error)]) as here:
        events = await here.ask()
        assert end_of(events) == ("finish", "stop")
        assert_valid_wire(await here.messages())
    results = [result for event in events for result in event.tool_results or ()]
    assert [result.is_error for result in results] == [True, True]


def giver(value: Any) -> Tool[..., Any]:
    def odd() -> Any:
        return value

    return Tool("odd", "Return something odd.", {"type": "object"}, odd)


class Evil:
    def model_dump(self, **_: Any) -> Any:
        raise AttributeError("not today")


def circle() -> list[Any]:
    around: list[Any] = []
    around.append(around)
    return around


@pytest.mark.parametrize(
    ("value", "is_error"),
    [
        (None, False),
        ("", False),
        ("lone \ud800 and \x00", False),
        ({"\ud800": float("nan"), "deep": [1, {2: None}]}, False),
        (10**400, False),
        (object(), True),
        (b"bytes", True),
        ({"in": {"set": {1, 2}}}, False),
        (circle(), True),
        (Evil(), True),
        (lambda: None, True),
        ((each for each in ()), True),
    ],
    ids=[f"value {at}" for at in range(12)],
)
async def test_whatever_a_tool_returns_becomes_text_or_an_error(value: Any, is_error: bool) -> None:
    model = ScriptedModel(Call("odd"), Say("On."))
    async with world(model, tools=[giver(value)]) as here:
        events = await here.ask()
        assert end_of(events) == ("finish", "stop")
        assert_valid_wire(await here.messages())
    (result,) = [result for event in events for result in event.tool_results or ()]
    assert result.is_error is is_error


async def test_a_huge_result_reaches_the_model_cut_and_is_kept_whole(store: str) -> None:
    model = ScriptedModel(Call("odd"), Say("On."))
    async with world(model, tools=[giver("x" * 3_000_000)], store=store) as here:
        events = await here.ask()
        entry = next(entry for entry in await here.entries() if isinstance(entry, ToolFinished))
        assert len(await here.store.blobs.get("default/anonymous/-/s-1", entry.blob)) == 3_000_000
    (result,) = [result for event in events for result in event.tool_results or ()]
    assert result.truncated
    assert len(result.result) < 21_000


async def test_a_tool_that_takes_too_long_is_given_up() -> None:
    cleaned: list[str] = []

    @tool(timeout=0.05)
    async def slow() -> str:
        """Take long."""
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned")
        return "never"

    async with world(ScriptedModel(Call("slow"), Say("On.")), tools=[slow]) as here:
        events = await here.ask()
    (result,) = [result for event in events for result in event.tool_results or ()]
    assert "Timed out after 0.05 s; it is not known" in result.result
    assert end_of(events) == ("finish", "stop")
    assert cleaned == ["cleaned"]


async def test_a_tool_that_answers_although_it_was_given_up_has_answered() -> None:
    @tool(timeout=0.05)
    async def stubborn() -> str:
        """Take long."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "after all"
        return "never"

    async with world(ScriptedModel(Call("stubborn"), Say("On.")), tools=[stubborn]) as here:
        events = await here.ask()
    (result,) = [result for event in events for result in event.tool_results or ()]
    assert result.result == "after all"
    assert end_of(events) == ("finish", "stop")


async def test_a_tool_that_ignores_being_cancelled_is_abandoned() -> None:
    release = asyncio.Event()

    @tool(timeout=0.05)
    async def deaf() -> str:
        """Never listen."""
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "at last"

    async with world(ScriptedModel(Call("deaf"), Say("On.")), tools=[deaf]) as here:
        events = await here.ask()
        (result,) = [result for event in events for result in event.tool_results or ()]
        assert "Timed out" in result.result
        assert end_of(events) == ("finish", "stop")
        release.set()


async def test_a_runtime_closes_although_a_tool_ignores_being_cancelled() -> None:
    release, began = asyncio.Event(), asyncio.Event()

    @tool
    async def deaf() -> str:
        """Never listen."""
        began.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "at last"

    async def use() -> None:
        async with world(ScriptedModel(Call("deaf")), tools=[deaf]) as here:
            await here.send()
            await began.wait()

    await bounded(use())
    release.set()


async def test_a_thread_that_hangs_is_counted_and_the_run_goes_on() -> None:
    release = threading.Event()

    @tool(timeout=0.05)
    def hang() -> str:
        """Hang."""
        release.wait(30)
        return "late"

    model = ScriptedModel(Say(calls=(Call("hang"), Call("hang"))), Call("hang"), Say("On."))
    async with world(model, tools=[hang], limits={"threads": 2}) as here:
        events = await here.ask()
        results = [result.result for event in events for result in event.tool_results or ()]
        assert here.parts.threads.stuck == 2
        assert "Timed out" in results[0]
        assert "all 2 tool threads hang" in results[2]
        assert end_of(events) == ("finish", "stop")
        release.set()
        await soon(lambda: here.parts.threads.stuck == 0, "the threads being free again")


async def test_blocking_tools_run_at_the_same_time_when_they_are_safe() -> None:
    meet = threading.Barrier(3, timeout=5)

    @tool(side_effects=False)
    def together() -> str:
        """Meet the others."""
        meet.wait()
        return "met"

    calls = (Call("together"), Call("together"), Call("together"))
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=[together]) as here:
        events = await here.ask()
    assert [result.result for event in events for result in event.tool_results or ()] == ["met"] * 3


async def test_calls_with_side_effects_run_one_after_the_other_in_order() -> None:
    log: list[str] = []

    @tool
    async def step(name: str) -> str:
        """Take a step."""
        log.append(f"{name} begins")
        await asyncio.sleep(0)
        log.append(f"{name} ends")
        return name

    calls = tuple(Call("step", {"name": name}) for name in "abc")
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=[step]) as here:
        await here.ask()
    assert log == ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]


async def test_a_safe_call_does_not_wait_for_those_with_side_effects() -> None:
    looked, release = asyncio.Event(), asyncio.Event()

    @tool
    async def act() -> str:
        """Act."""
        await looked.wait()
        return "acted"

    @tool(side_effects=False)
    async def look() -> str:
        """Look."""
        looked.set()
        return "looked"

    async with world(ScriptedModel(Say(calls=(Call("act"), Call("look"))), Say("On.")), tools=[act, look]) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
    release.set()


async def test_an_unknown_tool_and_wrong_arguments_are_told_to_the_model() -> None:
    @tool
    async def add(left: int, right: int) -> int:
        """Add."""
        return left + right

    calls = (Call("ad", {}), Call("add", "{not json"), Call("add", {"left": "x"}), Call("add", {"left": 1, "right": 2}))
    async with world(ScriptedModel(Say(calls=calls), Say("On.")), tools=[add]) as here:
        events = await here.ask()
        assert_valid_wire(await here.messages())
    results = [result.result for event in events for result in event.tool_results or ()]
    assert "no tool named 'ad'" in results[0]
    assert [result for result in results if result == "3"] == ["3"]
    assert [event.type for event in events].count("tool_started") == 1


async def test_a_tool_knows_whom_it_serves() -> None:
    seen: list[ToolContext] = []

    @tool
    async def who(ctx: ToolContext) -> str:
        """Say who."""
        seen.append(ctx)
        return "you"

    async with world(ScriptedModel(Call("who"), Say("On.")), tools=[who]) as here:
        run_id = await here.send(tool_context={"apiKey": "s3cret-value"}, user_id=None)
        await here.events(run_id)
    (ctx,) = seen
    assert (ctx.session.id, ctx.run_id, ctx.principal.user) == ("s-1", run_id, "anonymous")
    assert ctx.secrets == {"apiKey": "s3cret-value"}
    assert "s3cret" not in repr(ctx)
    assert ctx.idempotency_key == f"{run_id}/{ctx.tool_call_id}"
    assert ctx.deadline is not None


async def test_a_call_without_a_name_is_no_answer_but_a_call_of_no_tool() -> None:
    async with world(ScriptedModel(Call("", {}), Say("Sorry.")), tools=[raiser(ValueError())]) as here:
        events = await here.events(await here.send())
        assert end_of(events) == ("finish", "stop")
