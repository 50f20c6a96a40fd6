"""The tools there are, by name and by group, and which of them a turn gets."""

from collections.abc import Iterable, Sequence
from typing import Any

import structlog

from talaria.core.errors import InvalidRequest, NotFound
from talaria.policy.selection import GROUP
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.methods import check_bound
from talaria.tools.nearest import hint, listed

MANY = 15
REMEMBERED = 100
"""Selections: agents ask for the same tools in every turn."""
Names = tuple[str, ...] | None
_log = structlog.get_logger(__name__)


class Registry:
    """Tools under names that differ by more than letter case, in the order in which they were added."""

    def __init__(self, tools: Iterable[Tool[..., Any]] = ()) -> None:
        self._tools: dict[str, Tool[..., Any]] = {}
        self._folded: dict[str, Tool[..., Any]] = {}
        self._groups: dict[str, tuple[str, ...]] = {}
        self._selected: dict[tuple[Names, Names], tuple[Tool[..., Any], ...]] = {}
        for each in tools:
            self.add(each)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._tools)

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        """All tools, in order."""
        return tuple(self._tools.values())

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The names of the tools in each group, by the group's name."""
        return dict(self._groups)

    def add(self, tool: Tool[..., Any]) -> None:
        """Add a tool; adding the same one again changes nothing.

        Raises:
            ToolInvalid: another tool has this name in some letter case (the same method of another object too), or it
                is not bound.
        """
        check_bound(tool)
        there = self._folded.setdefault(tool.name.casefold(), tool)
        if not there.is_same_as(tool):
            names = f"'{tool.name}'" if there.name == tool.name else f"'{there.name}' and '{tool.name}'"
            both = f"{_origin(there)} and {_origin(tool)}"
            raise ToolInvalid(f"there are two tools named {names}, {both}; give one of them another name")
        if tool.name not in self._tools:
            self._tools[tool.name] = tool
            self._selected.clear()
            if tool.group:
                self._groups[tool.group] = (*self._groups.get(tool.group, ()), tool.name)

    def has(self, name: str) -> bool:
        """Whether there is a tool of this name, in some letter case."""
        return name.casefold() in self._folded

    def get(self, name: str) -> Tool[..., Any]:
        """Return the tool of this name.

        Raises:
            NotFound: there is none; the message names what there is.
        """
        found = self._tools.get(name)
        if found is None:
            raise NotFound(self._unknown(name))
        return found

    def select(self, allow: Sequence[str] | None, own: Sequence[str] | None) -> tuple[Tool[..., Any], ...]:
        """Return the tools of a turn: what of `own` (an agent's) `allow` (the request's) names, in order of `own`.

        Both are names of tools or groups (`group:files`); None is no limit, an empty list is no tools.

        Raises:
            InvalidRequest: a name is unknown; the message and `errors` name every such name.
        """
        key = (None if allow is None else tuple(allow), None if own is None else tuple(own))
        found = self._selected.get(key)
        if found is None:
            found = self._select(*key)
            if len(self._selected) < REMEMBERED:
                self._selected[key] = found
        return found

    def _select(self, allow: Names, own: Names) -> tuple[Tool[..., Any], ...]:
        mine = self._expand(own, "agent.tools")
        wanted = mine if allow is None else self._expand(allow, "tools")
        chosen = tuple(self._tools[name] for name in mine if name in wanted)
        if len(chosen) > MANY:
            _log.warning("many_tools", count=len(chosen), advice=f"models choose worse among more than {MANY} tools")
        return chosen

    def _expand(self, names: Sequence[str] | None, field: str) -> dict[str, None]:
        if names is None:
            return dict.fromkeys(self._tools)
        groups = {GROUP + group: members for group, members in self._groups.items()}
        unknown = [name for name in dict.fromkeys(names) if name not in groups and name not in self._tools]
        if unknown:
            problems = [self._unknown(name) for name in unknown]
            errors = tuple({"field": field, "message": problem} for problem in problems)
            raise InvalidRequest("; ".join(problems), errors)
        return dict.fromkeys(each for name in names for each in groups.get(name, (name,)))

    def _unknown(self, name: str) -> str:
        if name.startswith(GROUP):
            known, what = [GROUP + group for group in self.groups], "tool group"
        else:
            known, what = list(self._tools), "tool"
        there = f"there are {listed(known)}" if known else "there are none"
        return f"no {what} named '{name}'; {there}{hint(name, known)}"


def _origin(tool: Tool[..., Any]) -> str:
    """Where the tool's function is, for an error."""
    fn = tool.fn
    return f"{getattr(fn, '__module__', '?')}.{getattr(fn, '__qualname__', type(fn).__qualname__)}"
