"""Methods as tools: bound to their object, without `self` in the schema, and refused while they are bound to none."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from talaria import Agent, ToolContext, tool
from talaria.testing.scripted_model import Call, Say, ScriptedModel
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.methods import tools_of
from talaria.tools.registry import Registry
from tests.runtime.world import told, world


@dataclass
class Till:
    """Neither hashable nor the only one of its kind."""

    name: str = "front"
    paid: list[str] = field(default_factory=list[str])

    @tool
    def refund(self, order: str) -> str:
        """Pay an order back.

        Args:
            order: Which one.
        """
        self.paid.append(order)
        return f"{order} paid back at {self.name}"

    @tool(name="count", side_effects=False)
    async def tally(self, ctx: ToolContext) -> str:
        """Count what was paid."""
        return f"{len(self.paid)} for {ctx.principal.user}"

    @classmethod
    @tool
    def kind(cls) -> str:
        """Say what this is."""
        return cls.__name__

    @tool
    @classmethod
    def kind_too(cls) -> str:
        """Say what this is."""
        return cls.__name__

    @staticmethod
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool
    @staticmethod
    def add_too(a: int, b: int) -> int:
        """Add."""
        return a + b

    def no_tool(self) -> None: ...


class Safe(Till):
    @tool
    def refund(self, order: str) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Refuse."""
        return f"never {order}"

    @tool
    def lock(self) -> None:
        """Lock it."""


ALL = ["refund", "count", "kind", "kind_too", "add", "add_too"]


def found(items: list[object]) -> list[Tool[..., Any]]:
    return [each for each in tools_of(items) if isinstance(each, Tool)]


def names(items: list[object]) -> list[str]:
    return [each.name for each in found(items)]


def refused(items: list[object]) -> str:
    with pytest.raises(ToolInvalid) as caught:
        tools_of(items)
    return caught.value.message


def test_the_object_is_not_in_the_schema() -> None:
    assert list(Till.refund.parameters["properties"]) == ["order"]
    assert list(Till.kind_too.parameters["properties"]) == []
    assert Till().refund.spec == Till.refund.spec


async def test_a_bound_method_is_called_as_it_was_written() -> None:
    till = Till()
    assert till.refund("A-1") == "A-1 paid back at front"
    assert Till.refund(till, "A-2") == "A-2 paid back at front"
    assert await till.tally(ToolContext()) == "2 for anonymous"
    assert (till.tally.is_async, till.tally.context_parameter) == (True, "ctx")


def test_class_and_static_methods_need_no_object_in_either_order_of_decorators() -> None:
    called = [each.call({}, ToolContext()) for each in found([Till.kind, Till.kind_too, Safe.kind_too, Safe().kind])]
    assert called == ["Till", "Till", "Safe", "Safe"]
    added = [each.call({"a": 1, "b": 2}, ToolContext()) for each in found([Till.add, Till().add, Till().add_too])]
    assert added == [3, 3, 3]


def test_an_object_stands_for_all_tools_among_its_methods() -> None:
    assert names([Till()]) == ALL
    assert names([Safe()]) == [*ALL, "lock"]
    assert names(["Read", Till().add]) == ["add"]


def test_what_a_subclass_declares_anew_goes_before() -> None:
    [refund] = [each for each in found([Safe()]) if each.name == "refund"]
    assert refund.call({"order": "A-1"}, ToolContext()) == "never A-1"


def test_the_same_method_of_the_same_object_is_one_tool_however_often_it_is_reached() -> None:
    till = Till()
    registry = Registry([till.refund, till.refund])
    assert registry.names == ("refund",)
    with pytest.raises(ToolInvalid, match="two tools named 'refund'"):
        registry.add(Till().refund)


def test_a_bound_tool_shares_what_was_made_of_its_schema() -> None:
    assert Till().refund.validator is Till().refund.validator is Till.refund.validator


def test_a_method_bound_to_no_object_is_refused_with_what_to_write() -> None:
    message = refused([Till.refund])
    assert message == (
        "tool 'refund' is a method of Till and bound to no object; "
        "make one, such as till = Till(…), and give till.refund"
    )
    with pytest.raises(ToolInvalid, match="bound to no object"):
        Registry([Till.refund])
    with pytest.raises(ToolInvalid, match="bound to no object"):
        Agent("a", tools=[Till.refund])


@pytest.mark.parametrize(
    ("item", "words"),
    [(Till, "Till is a class; give an object of it"), (7, "int is no tool and none of its methods is")],
)
def test_what_has_no_tools_is_refused(item: object, words: str) -> None:
    assert words in refused([item])


def test_self_outside_of_a_class_is_refused() -> None:
    def cancel(self, order: str) -> None:  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]
        """Cancel an order."""

    with pytest.raises(ToolInvalid, match="'self' is for methods; declare the tool in a class"):
        tool(cancel)  # pyright: ignore[reportUnknownArgumentType]


async def test_an_agent_runs_the_tools_of_its_object() -> None:
    till = Till()
    model = ScriptedModel(Say(calls=(Call("refund", {"order": "A-7"}), Call("count"))), Say("Done."), Say("Nothing."))
    async with world(model) as here:
        result = await here.runtime.run(Agent("till", tools=[till]), "Refund A-7", session="s-1")
        again = await here.runtime.run(Agent("till", tools=[till.refund]), "And?", session="s-1")
        assert (result.output, again.output) == ("Done.", "Nothing.")
    assert till.paid == ["A-7"]


async def test_a_runtime_takes_objects_too() -> None:
    model: Any = ScriptedModel(Say(calls=(Call("add", {"a": 1, "b": 2}),)), Say("Three."))
    async with world(model, tools=[Till()]) as here:
        assert "tool_result add: 3" in told(await here.ask())
