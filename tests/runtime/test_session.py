"""The session as tools and programs see it: its variables are entries, and outlast the process."""

from typing import Any

import pytest

from talaria import Principal, Session, ToolContext, tool
from talaria.core.errors import Conflict, InvalidRequest, NotFound
from talaria.journal.entries import VariableSet
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from tests.runtime.world import end_of, soon, told, world


@tool
async def remember(name: str, value: Any, ctx: ToolContext) -> dict[str, Any]:
    """Remember something."""
    await ctx.session.set(name, value)
    return dict(ctx.session.variables)


@tool
def remember_here(name: str, ctx: ToolContext) -> list[str]:
    """Remember something, on a thread."""
    ctx.session.set_sync(name, len(ctx.session.messages))
    return list(ctx.session.variables)


def calling(*calls: Call) -> ScriptedModel:
    return ScriptedModel(*(step for call in calls for step in (Say(calls=(call,)), Say("Ok."))))


async def test_a_variable_is_an_entry_and_is_there_for_the_next_run(store: str) -> None:
    model = calling(Call("remember", {"name": "a", "value": {"b": [1]}}), Call("remember", {"name": "c", "value": "d"}))
    async with world(model, tools=[remember], store=store) as here:
        await here.ask()
        assert 'tool_result remember: {"a":{"b":[1]},"c":"d"}' in told(await here.ask())
        assert [each.name for each in await here.entries() if isinstance(each, VariableSet)] == ["a", "c"]
        assert dict((await here.runtime.session("s-1")).variables) == {"a": {"b": [1]}, "c": "d"}
        assert not [each for each in await here.tales("s-1") if each == "Oversize"]


async def test_variables_outlast_the_process_and_none_removes_one(sqlite: str) -> None:
    async with world(calling(Call("remember", {"name": "a", "value": 1})), tools=[remember], store=sqlite) as here:
        await here.ask()
    async with world(calling(Call("remember", {"name": "a", "value": None})), tools=[remember], store=sqlite) as here:
        assert dict((await here.runtime.session("s-1")).variables) == {"a": 1}
        await here.ask()
        assert dict((await here.runtime.session("s-1")).variables) == {}


async def test_variables_belong_to_one_session_of_one_user() -> None:
    async with world(
        calling(
            Call("remember", {"name": "a", "value": 1}),
        ),
        tools=[remember],
    ) as here:
        await here.ask()
        with pytest.raises(NotFound):
            await here.runtime.session("s-2")
        with pytest.raises(NotFound):
            await here.runtime.session("s-1", principal=Principal(user="eve"))


async def test_a_plain_tool_sets_variables_from_its_thread() -> None:
    async with world(calling(Call("remember_here", {"name": "x"})), tools=[remember_here]) as here:
        assert 'tool_result remember_here: ["x"]' in told(await here.ask())
        session = await here.runtime.session("s-1")
    assert (session.id, session.variables["x"], len(session.messages)) == ("s-1", 1, 4)


async def test_what_a_program_reads_it_cannot_set() -> None:
    async with world(calling(Call("remember", {"name": "a", "value": [1]})), tools=[remember]) as here:
        await here.ask()
        session = await here.runtime.session("s-1")
        with pytest.raises(Conflict, match="can only be read here"):
            await session.set("a", 2)
        values: list[Any] = (await here.runtime.session("s-1")).variables["a"]
        values.append(2)
        assert session.variables["a"] == [1]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("", 1, "1 to 128 characters"),
        ("x" * 129, 1, "1 to 128 characters"),
        ("x", float("nan"), "no JSON form"),
        ("x", {1, 2}, "no JSON form"),
        ("x", "\ud800", "no JSON form"),
        ("x", "y" * 40_000, "more than 32768"),
    ],
)
async def test_what_cannot_be_kept_is_refused(name: str, value: Any, words: str) -> None:
    session = ToolContext().session
    with pytest.raises(InvalidRequest, match=words):
        await session.set(name, value)


async def test_a_session_has_a_limit_of_variables() -> None:
    session = ToolContext().session
    for at in range(200):
        await session.set(str(at), at)
    await session.set("7", "again")
    with pytest.raises(InvalidRequest, match="200 variables"):
        await session.set("one more", 1)


async def test_a_secret_never_becomes_a_variable() -> None:
    async with world(calling(Call("remember", {"name": "a", "value": "it is hunter22"})), tools=[remember]) as here:
        events = await here.ask(toolContext={"key": "hunter22"})
        assert any("would hold a secret" in line for line in told(events))
        assert "VariableSet" not in await here.tales()


async def test_a_tool_that_outlives_its_run_sets_nothing() -> None:
    kept: list[Session] = []

    @tool
    async def keep(ctx: ToolContext) -> None:
        """Keep the session."""
        kept.append(ctx.session)

    async with world(calling(Call("keep")), tools=[keep]) as here:
        assert end_of(await here.ask()) == ("finish", "stop")
        await soon(lambda: not here.parts.engine.running, "the session being left")
        with pytest.raises(Conflict, match="the run has ended or parked"):
            await kept[0].set("late", 1)
        assert "VariableSet" not in await here.tales()


def test_a_tool_is_tested_with_a_session_in_memory() -> None:
    context = ToolContext()
    assert remember_here("x", context) == ["x"]


async def test_waiting_on_the_loop_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"use .await session\.set"):
        ToolContext().session.set_sync("x", 1)
