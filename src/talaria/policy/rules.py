"""Rules, and what they say of a call: deny goes before ask, ask before allow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from talaria.policy.conditions import Condition, ConditionFailed, Facts
from talaria.policy.selection import Selection

Effect = Literal["deny", "ask", "allow"]
ORDER: tuple[Effect, ...] = ("deny", "ask", "allow")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `label` says where it stands, `roles` for whom it is (None: everybody), `condition` when it counts."""

    label: str
    effect: Effect
    tools: Selection
    roles: frozenset[str] | None = None
    condition: Condition | None = None

    def is_for(self, roles: Iterable[str]) -> bool:
        """Whether it is for somebody with these roles: one of them is enough."""
        return self.roles is None or not self.roles.isdisjoint(roles)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """What the rules say: the strongest one that matches. `problem`: its condition could not be evaluated."""

    effect: Effect
    rule: str
    depends: bool = False
    problem: str = ""


def in_order(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules as they are asked: the strongest first, and what always denies before all others.

    Of rules that ask, those about arguments come first: remembered consent does not hold for them.
    """

    def place(rule: Rule) -> tuple[int, bool]:
        is_conditional = rule.condition is not None
        return ORDER.index(rule.effect), not is_conditional if rule.effect == "ask" else is_conditional

    return tuple(sorted(rules, key=place))


def judge(rules: Sequence[Rule], facts: Facts) -> Verdict | None:
    """What rules in order say of a call; None where none matches.

    It fails closed: where a condition cannot be evaluated, a rule that denies or asks counts, one that allows does not.
    """
    for rule in rules:
        if rule.condition is None:
            return Verdict(rule.effect, rule.label)
        try:
            if rule.condition.holds(facts):
                return Verdict(rule.effect, rule.label, True)
        except ConditionFailed as failure:
            if rule.effect != "allow":
                return Verdict(rule.effect, rule.label, True, str(failure))
    return None
