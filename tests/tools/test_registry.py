"""Which tools there are, and which of them a turn gets."""

import pytest
from structlog.testing import capture_logs

from talaria.core.errors import InvalidRequest, NotFound
from talaria.tools.declaration import Tool
from talaria.tools.errors import ToolInvalid
from talaria.tools.registry import Registry


def named(name: str, group: str = "") -> Tool:
    return Tool(name, "Act.", {"type": "object"}, lambda: None, group=group)


REGISTRY = Registry([named("Read", "files"), named("Write", "files"), named("search", "web"), named("refund")])


def chosen(allow: list[str] | None, own: list[str] | None) -> list[str]:
    return [each.name for each in REGISTRY.select(allow, own)]


def test_tools_are_found_by_name_in_the_order_they_were_added() -> None:
    assert REGISTRY.names == ("Read", "Write", "search", "refund")
    assert REGISTRY.get("Read").name == "Read"
    assert "Read" in REGISTRY
    assert len(REGISTRY) == len(REGISTRY.tools) == 4


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(NotFound) as caught:
        REGISTRY.get("refnd")
    assert caught.value.message == (
        "no tool named 'refnd'; there are 'Read', 'Write', 'search', 'refund'; did you mean 'refund'?"
    )


def test_an_empty_registry_says_so() -> None:
    with pytest.raises(NotFound, match="no tool named 'x'; there are none"):
        Registry().get("x")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolInvalid) as caught:
        Registry([named("a"), Tool("a", "Act.", {"type": "object"}, print)])
    origins = f"{__name__}.named.<locals>.<lambda> and builtins.print"
    assert caught.value.message == f"there are two tools named 'a', {origins}; give one of them another name"


def test_two_names_that_only_differ_by_letter_case_are_refused() -> None:
    with pytest.raises(ToolInvalid, match="there are two tools named 'Read' and 'read', "):
        Registry([named("Read"), named("read")])


def test_the_same_tool_may_be_added_twice() -> None:
    tool = named("a")
    assert len(Registry([tool, tool])) == 1


def test_groups_have_their_members() -> None:
    assert REGISTRY.groups == {"files": ("Read", "Write"), "web": ("search",)}


@pytest.mark.parametrize(
    ("allow", "own", "names"),
    [
        (None, None, ["Read", "Write", "search", "refund"]),
        (None, ["search", "Read"], ["search", "Read"]),
        (["Read", "refund"], ["search", "Read"], ["Read"]),
        (["group:files"], None, ["Read", "Write"]),
        (["Write"], ["group:files", "refund"], ["Write"]),
        (None, ["group:files", "Read"], ["Read", "Write"]),
        ([], None, []),
        (None, [], []),
        (["refund"], ["Read"], []),
    ],
)
def test_a_turn_gets_what_the_agent_has_and_the_request_allows(
    allow: list[str] | None, own: list[str] | None, names: list[str]
) -> None:
    assert chosen(allow, own) == names


def test_every_unknown_name_in_a_request_is_named_with_the_nearest() -> None:
    with pytest.raises(InvalidRequest) as caught:
        chosen(["read", "Write", "group:file"], None)
    assert caught.value.errors == (
        {
            "field": "tools",
            "message": "no tool named 'read'; there are 'Read', 'Write', 'search', 'refund'; did you mean 'Read'?",
        },
        {
            "field": "tools",
            "message": "no tool group named 'group:file'; there are 'group:files', 'group:web'; "
            "did you mean 'group:files'?",
        },
    )


def test_an_unknown_name_is_refused_even_where_the_agent_has_nothing() -> None:
    with pytest.raises(InvalidRequest):
        chosen(["nothing"], [])


def test_more_tools_than_a_model_chooses_well_among_are_warned_about() -> None:
    many = Registry([named(f"tool{number}") for number in range(16)])
    with capture_logs() as logs:
        assert len(many.select(None, None)) == 16
        assert len(many.select([*many.names[:15]], None)) == 15
    assert [(log["event"], log["count"], log["log_level"]) for log in logs] == [("many_tools", 16, "warning")]
