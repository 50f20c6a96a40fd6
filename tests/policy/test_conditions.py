"""Conditions: what they may say, what they see, and what happens where that cannot be said."""

from typing import Any

import pytest

from talaria.core.errors import ConfigurationError
from talaria.policy.conditions import Condition, ConditionFailed, Facts

ARGUMENTS: dict[str, Any] = {"method": "POST", "amount": 41.5, "pieces": 3, "tags": ["a", "b"], "to": {"city": "Oslo"}}
FACTS: dict[str, Any] = {
    "args": ARGUMENTS,
    "principal": {"tenant": "acme", "user": "ann", "roles": ["user", "clerk"]},
    "agent": "orders",
    "tool": {"name": "refund", "group": "orders", "source": "user"},
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("args.method != 'GET'", True),
        ("args.amount > 40 && args.pieces <= 3", True),
        ("args.amount > 100.0", False),
        ("args.to.city in ['Oslo', 'Bergen']", True),
        ("has(args.note) && args.note == 'x'", False),
        ("args.tags.exists(tag, tag == 'b')", True),
        ("args.method.matches('^(GET|HEAD)$')", False),
        ("'clerk' in principal.roles && principal.tenant == 'acme'", True),
        ("principal.user.startsWith('svc-')", False),
        ("agent == 'orders' && tool.group == 'orders' && tool.source != 'mcp'", True),
        ("args.note == 'x' || args.method == 'POST'", True),
    ],
)
def test_a_condition_sees_arguments_principal_agent_and_tool(text: str, holds: bool) -> None:
    assert Condition(text).holds(Facts(FACTS)) is holds


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("args.method ==", "Syntax error"),
        ("args.method == 'GET' extra", "Syntax error"),
        ("arguments.method == 'GET'", "undeclared reference"),
        ("run(args.method)", "undeclared reference to 'run'"),
        ("agent == 3", "no matching overload"),
        ("size(args)", "must say true or false"),
        ("'yes'", "must say true or false"),
        ("args", "must say true or false"),
        ("", "Syntax error"),
    ],
)
def test_what_is_no_condition_is_refused_when_it_is_read(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        Condition(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("args.note == 'x'", "note"),
        ("args.to.city.name == 'x'", "SELECT"),
        ("args.method > 3", "verload"),
        ("args.pieces", "it gave INT"),
        ("args.pieces / 0 == 1", "zero"),
        ("args.method.matches('(')", "missing"),
        ("args.pieces + 9223372036854775807 > 0", "overflow"),
    ],
)
def test_what_cannot_be_said_of_these_arguments_fails(text: str, problem: str) -> None:
    with pytest.raises(ConditionFailed, match=problem):
        Condition(text).holds(Facts(FACTS))


@pytest.mark.parametrize("value", [2**70, "\ud800", object()], ids=["a huge number", "a surrogate", "an object"])
def test_values_that_the_language_does_not_have_fail(value: Any) -> None:
    with pytest.raises(ConditionFailed):
        Condition("args.v == 1").holds(Facts({**FACTS, "args": {"v": value}}))


def test_a_condition_that_would_take_long_fails() -> None:
    every = "args.l.all(a, args.l.all(b, args.l.all(c, a + b + c >= 0)))"
    with pytest.raises(ConditionFailed, match="budget"):
        Condition(every).holds(Facts({**FACTS, "args": {"l": list(range(1000))}}))


def test_a_regular_expression_takes_time_linear_in_its_text() -> None:
    assert (
        Condition("args.text.matches('(a+)+$')").holds(Facts({**FACTS, "args": {"text": "a" * 100_000 + "b"}})) is False
    )
