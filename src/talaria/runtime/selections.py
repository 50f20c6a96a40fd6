"""Selections of tools in the configuration: what they name must be there."""

from collections.abc import Iterable, Sequence

from talaria.core.errors import ConfigurationError
from talaria.policy.selection import GROUP, SOURCE, SOURCES, Selection, Subject
from talaria.tools.nearest import suggestion


def check_selection(where: str, chosen: Selection, tools: Sequence[Subject]) -> None:
    """Refuse a selection with a term that means no tool: a misspelt name would leave one unguarded.

    Raises:
        ConfigurationError: it says `where` the term stands, and what may have been meant.
    """
    for term in chosen.lost(tools):
        raise ConfigurationError(f"{where}: no tool named '{term}'{suggestion(term, _names(term, tools))}")


def _names(term: str, tools: Iterable[Subject]) -> list[str]:
    if term.startswith(GROUP):
        return sorted({GROUP + tool.group for tool in tools if tool.group})
    if term.startswith(SOURCE):
        return [SOURCE + each for each in SOURCES]
    return [tool.name for tool in tools]
