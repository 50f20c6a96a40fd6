"""Selections: which tools a list of terms means, and which terms mean none."""

from typing import NamedTuple

import pytest

from talaria.policy.selection import select


class Subject(NamedTuple):
    name: str
    group: str = ""
    source: str = "user"
    permission: str = ""


REFUND = Subject("refund", "orders")
FETCH = Subject("mcp__web__fetch", "", "mcp")
RECALL = Subject("recall", "", "builtin")


@pytest.mark.parametrize(
    ("terms", "meant"),
    [
        (["refund"], [REFUND]),
        (["Refund"], []),
        (["group:orders"], [REFUND]),
        (["group:order"], []),
        (["group:"], []),
        (["source:user"], [REFUND]),
        (["source:mcp", "source:builtin"], [FETCH, RECALL]),
        (["mcp__*"], [FETCH]),
        (["re*"], [REFUND, RECALL]),
        (["*"], [REFUND, FETCH, RECALL]),
        (["re?all"], [RECALL]),
        (["[rm]e*"], [REFUND, RECALL]),
        ([], []),
    ],
)
def test_names_groups_sources_and_patterns_mean_tools(terms: list[str], meant: list[Subject]) -> None:
    assert [each for each in (REFUND, FETCH, RECALL) if each in select(terms)] == meant


def test_a_term_is_lost_where_it_means_no_tool_and_none_can_come_later() -> None:
    terms = ["refund", "refnud", "group:order", "r*", "x*", "mcp__*", "mcp__jira__close", "source:external", "source:x"]
    assert select(terms).lost([REFUND]) == ["refnud", "group:order", "x*", "source:x"]
