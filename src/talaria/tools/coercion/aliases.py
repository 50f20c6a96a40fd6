"""Checks a tool's aliases at its declaration: they name parameters, and values that these may have."""

from collections.abc import Iterator, Mapping
from typing import Any

from talaria.tools.coercion.choices import options_of
from talaria.tools.coercion.parts import Compiler, same
from talaria.tools.errors import ToolInvalid
from talaria.tools.nearest import hint, listed
from talaria.tools.problems import shortened

_BELOW = ("anyOf", "oneOf", "allOf", "prefixItems")


def check_aliases(tool: str, compiler: Compiler, aliases: Mapping[str, Mapping[str, Any]]) -> None:
    """Accept aliases that stand for values of enums.

    Raises:
        ToolInvalid: a parameter, or a value, is not there, or an alias is itself a value.
    """
    properties: dict[str, Any] = compiler.at("/properties") or {}
    for parameter, words in aliases.items():
        if parameter not in properties:
            there = f"there are {listed(properties)}" if properties else "there are none"
            known = f"{there}{hint(parameter, properties)}"
            raise ToolInvalid(f"tool '{tool}': aliases name '{parameter}', which is no parameter; {known}")
        options = list(_options(compiler, properties[parameter], set()))
        for alias, value in words.items():
            _check(f"tool '{tool}': the alias '{alias}' of '{parameter}'", alias, value, options)


def _check(what: str, alias: str, value: Any, options: list[Any]) -> None:
    if not any(same(value, option) for option in options):
        known = ", ".join(map(shortened, options[:20])) or "no values by name"
        raise ToolInvalid(f"{what} stands for {shortened(value)}, but that parameter takes {known}")
    if alias in options and alias != value:
        raise ToolInvalid(f"{what} is itself one of its values")


def _options(compiler: Compiler, schema: Any, seen: set[str]) -> Iterator[Any]:
    """Yield the values of the enums of a parameter, also those inside its list and its branches."""
    if not isinstance(schema, dict):
        return
    yield from options_of(schema)  # pyright: ignore[reportUnknownArgumentType]
    reference = schema.get("$ref")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if isinstance(reference, str) and reference not in seen:
        yield from _options(compiler, compiler.at(reference[1:]), {*seen, reference})
    branches = [branch for key in _BELOW for branch in schema.get(key, ())]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    for branch in [*branches, schema.get("items")]:  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        yield from _options(compiler, branch, seen)
