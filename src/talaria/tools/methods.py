"""Methods as tools: what an object has of them, and that each knows its object before it is used."""

import inspect
from collections.abc import Iterable
from types import MethodType
from typing import Any, cast

from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid

AnyTool = Tool[..., Any]


def tools_of(items: Iterable[object]) -> tuple[AnyTool | str, ...]:
    """Return tools and names as they are, and for every other object the tools among its methods, in their order.

    Raises:
        ToolInvalid: an object has none, or a method is not bound.
    """
    found: list[AnyTool | str] = []
    for item in items:
        if isinstance(item, str):
            found.append(item)
        else:
            found += _of(item)
    return tuple(found)


def check_bound(tool: AnyTool) -> None:
    """Refuse a method that was reached through its class.

    Raises:
        ToolInvalid: it names the method and what to write instead.
    """
    if not tool.receiver:
        return
    holder, _, method = getattr(tool.fn, "__qualname__", tool.name).rpartition(".")
    kind = holder.rpartition(".")[2]
    if tool.receiver == "cls":
        raise ToolInvalid(f"tool '{tool.name}' is a classmethod; give {kind}.{method}, reached through the class")
    raise ToolInvalid(
        f"tool '{tool.name}' is a method of {kind} and bound to no object; "
        f"make one, such as {kind.lower()} = {kind}(…), and give {kind.lower()}.{method}"
    )


def _of(item: object) -> list[AnyTool]:
    single = _as_tool(item)
    if single is not None:
        check_bound(single)
        return [single]
    if isinstance(item, type):
        raise ToolInvalid(f"tools: {item.__name__} is a class; give an object of it, or one of its tools")
    if inspect.isroutine(item):
        raise ToolInvalid(f"tools: {item!r} is no tool; decorate the function with @tool")
    names = dict.fromkeys(name for kind in reversed(type(item).__mro__) for name in vars(kind))
    tools = [each for name in names if (each := _member(item, name)) is not None]
    if not tools:
        raise ToolInvalid(f"tools: {type(item).__name__} is no tool and none of its methods is; put @tool on them")
    return tools


def _member(item: object, name: str) -> AnyTool | None:
    """The tool that is reached by this name, without running properties."""
    declared = next(vars(kind)[name] for kind in type(item).__mro__ if name in vars(kind))
    inner: object = getattr(declared, "__func__", declared)  # of a classmethod or staticmethod
    return _as_tool(getattr(item, name)) if isinstance(inner, Tool) else None


def _as_tool(item: object) -> AnyTool | None:
    """A tool, also one that a classmethod around it has wrapped in a bound method (from Python 3.13 on)."""
    if isinstance(item, MethodType) and isinstance(item.__func__, Tool):
        inner = cast("AnyTool", item.__func__)
        return inner.bound_to(item.__self__)
    return cast("AnyTool", item) if isinstance(item, Tool) else None
