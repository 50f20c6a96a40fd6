"""Rules: the strongest one that matches counts, whatever their order, and what cannot be said counts against."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talaria.core.errors import ConfigurationError
from talaria.core.principal import Principal
from talaria.policy.conditions import Condition
from talaria.policy.policy import Policy, RunPolicy
from talaria.policy.rules import ORDER, Effect, Rule, in_order
from talaria.policy.selection import select
from talaria.runtime.configure import read_settings
from tests.policy.test_selection import Subject

REFUND = Subject("refund", "orders")
LOOK = Subject("look")
CLOSE = Subject("close", permission="admin")
ANN = Principal("acme", "ann", ("user",))
BOSS = Principal("acme", "bob", ("user", "boss"))


def rule(effect: Effect, terms: str = "refund", roles: str = "", when: str = "", label: str = "") -> Rule:
    condition = Condition(when) if when else None
    return Rule(label or effect, effect, select(terms.split()), frozenset(roles.split()) or None, condition)


def policy(*rules: Rule) -> Policy:
    return Policy(in_order(rules))


def said(rules: Policy, principal: Principal = ANN, tool: Subject = REFUND, **arguments: Any) -> str | None:
    verdict = rules.of_run([tool], principal, "clerk").judge(tool, arguments)
    return None if verdict is None else verdict.effect


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ([], None),
        ([rule("allow")], "allow"),
        ([rule("allow"), rule("ask")], "ask"),
        ([rule("allow"), rule("ask"), rule("deny")], "deny"),
        ([rule("deny", "look")], None),
        ([rule("deny", "group:orders"), rule("allow", "refund")], "deny"),
        ([rule("deny", roles="boss"), rule("ask", roles="guest user")], "ask"),
        ([rule("deny", when="args.amount > 100"), rule("allow")], "allow"),
        ([rule("deny", when="args.amount > 10"), rule("allow")], "deny"),
        ([rule("ask", when="args.amount > 10"), rule("ask", when="args.amount > 100")], "ask"),
        ([rule("deny", when="args.nothing == 1"), rule("allow")], "deny"),
        ([rule("ask", when="args.nothing == 1")], "ask"),
        ([rule("allow", when="args.nothing == 1")], None),
        ([rule("allow", when="args.amount")], None),
    ],
)
def test_the_strongest_rule_that_matches_counts(rules: list[Rule], verdict: str | None) -> None:
    assert said(policy(*rules), amount=40) == verdict


_rules = st.builds(
    rule,
    st.sampled_from(ORDER),
    st.sampled_from(["refund", "*", "group:orders", "look"]),
    st.sampled_from(["", "user", "boss", "user boss"]),
    st.sampled_from(["", "args.amount > 40", "args.nothing == 1", "principal.user == 'ann'"]),
)


@given(st.lists(_rules, max_size=6), st.randoms(use_true_random=False), st.integers(0, 80))
def test_deny_wins_whatever_the_order(rules: list[Rule], random: Any, amount: int) -> None:
    shuffled = list(rules)
    random.shuffle(shuffled)
    verdict = said(policy(*rules), amount=amount)
    assert said(policy(*shuffled), amount=amount) == verdict
    assert said(policy(*rules, rule("deny")), amount=amount) == "deny"
    each = {said(policy(one), amount=amount) for one in rules} - {None}
    assert verdict == next((effect for effect in ORDER if effect in each), None)


def test_a_verdict_names_its_rule_and_says_whether_it_depends_on_the_arguments() -> None:
    rules = policy(rule("ask", label="policy.rules[0]"), rule("deny", when="args.amount > 1", label="policy.rules[1]"))
    held = rules.of_run([REFUND], ANN, "clerk")
    always, sometimes, unknown = (held.judge(REFUND, each) for each in ({"amount": 1}, {"amount": 2}, {}))
    assert always is not None
    assert (always.rule, always.depends, always.problem) == ("policy.rules[0]", False, "")
    assert sometimes is not None
    assert (sometimes.rule, sometimes.depends, sometimes.problem) == ("policy.rules[1]", True, "")
    assert unknown is not None
    assert unknown.effect == "deny"
    assert "amount" in unknown.problem


@pytest.mark.parametrize(
    ("rules", "tool", "principal", "may"),
    [
        ([], REFUND, ANN, True),
        ([rule("deny")], REFUND, ANN, False),
        ([rule("deny", when="args.amount > 1")], REFUND, ANN, True),
        ([rule("deny", roles="boss")], REFUND, ANN, True),
        ([rule("deny", roles="boss")], REFUND, BOSS, False),
        ([], CLOSE, ANN, False),
        ([], CLOSE, Principal(roles=("admin",)), True),
        ([rule("allow", "close", "boss")], CLOSE, BOSS, True),
        ([rule("allow", "close", "boss")], CLOSE, ANN, False),
        ([rule("allow", "close", when="args.soft")], CLOSE, ANN, True),
        ([rule("allow", "close"), rule("ask", "close")], CLOSE, ANN, False),
        ([rule("allow", "close"), rule("deny", "close")], CLOSE, Principal(roles=("admin",)), False),
    ],
)
def test_a_tool_that_every_call_of_is_refused_may_not_be_called(
    rules: list[Rule], tool: Subject, principal: Principal, may: bool
) -> None:
    held = policy(*rules)
    assert held.may_call(tool, principal) is may
    assert (tool.name in held.of_run([tool, LOOK], principal, "clerk").denied) is not may


def test_no_rules_say_nothing() -> None:
    assert RunPolicy().judge(REFUND, {}) is None
    assert Policy().of_run([REFUND], ANN, "clerk").rules == {}


VAGUE: list[tuple[dict[str, Any], str]] = [
    ({"approval": {"notRequester": True}}, "notRequester leaves nobody who may decide; name roles in approvers"),
    ({"policy": {"rules": [{"deny": "a", "allow": "b"}]}}, "a rule has one of allow, ask and deny"),
    ({"policy": {"rules": [{"roles": ["a"]}]}}, "a rule has one of allow, ask and deny"),
    ({"policy": {"rules": [{"deny": " , "}]}}, "a rule has one of allow, ask and deny"),
    ({"policy": {"rules": [{"deny": "a", "roles": []}]}}, "roles"),
    ({"policy": {"rules": [{"deny": "a", "when": ""}]}}, "when"),
    ({"policy": {"rules": [{"deny": "a", "if": "true"}]}}, "there is no such key"),
    ({"policy": {"rule": []}}, "did you mean 'rules'|'rules'"),
]


@pytest.mark.parametrize(("config", "problem"), VAGUE)
def test_a_rule_that_says_nothing_definite_ends_the_start(config: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        read_settings(config, {})
