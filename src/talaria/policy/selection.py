"""Selections: which tools a list of names, groups, sources and patterns means."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

GROUP, SOURCE = "group:", "source:"
SOURCES = ("user", "builtin", "mcp", "external")
"""Where tools come from: declared with `@tool` or `Tool`, part of the harness, of MCP servers, of clients."""
LATER = "mcp__"
"""Begins the names of tools that are known only once their server is connected."""


class Subject(Protocol):
    """A tool, as far as the policy looks at it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def group(self) -> str:
        """Its group; empty for none."""
        ...

    @property
    def source(self) -> str:
        """Where it comes from: one of SOURCES."""
        ...

    @property
    def permission(self) -> str:
        """The role it takes; empty for none."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """Tools by name, by pattern (`*`, `?`, `[…]`), by `group:…` and by `source:…`; letter case counts."""

    terms: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()

    def __contains__(self, tool: Subject) -> bool:
        """Whether one of the terms means this tool."""
        if tool.name in self.names or (tool.group and GROUP + tool.group in self.names):
            return True
        if not self.patterns:
            return False
        return SOURCE + tool.source in self.patterns or any(fnmatchcase(tool.name, each) for each in self.patterns)

    def lost(self, tools: Sequence[Subject]) -> list[str]:
        """The terms that mean none of these tools, nor any that may come later."""
        return [
            each for each in self.terms if not (_comes_later(each) or any(tool in select([each]) for tool in tools))
        ]


def select(terms: Iterable[str]) -> Selection:
    """Read a selection."""
    every = tuple(terms)
    patterns = tuple(each for each in every if each.startswith(SOURCE) or set(each) & set("*?["))
    return Selection(every, frozenset(every) - frozenset(patterns), patterns)


def _comes_later(term: str) -> bool:
    return term.startswith(LATER) or term in [SOURCE + each for each in SOURCES]
