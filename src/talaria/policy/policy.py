"""The policy of a deployment, and what of it holds for the calls of one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from talaria.core.principal import Principal
from talaria.policy.conditions import Facts
from talaria.policy.rules import Rule, Verdict, judge
from talaria.policy.selection import Selection, Subject

AfterUntrusted = Literal["ask", "allow", "deny"]
BYPASS = "approval:bypass"
"""The role with which a request may do without approvals."""
NO_BYPASS = f"bypassApproval takes the role '{BYPASS}'"


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """What holds for the calls of one run; tools are looked up by name.

    `denied`: those that its principal may never call. `asks_for`: those that the configuration asks a person about.
    `approvers`: the roles that decide; empty: the run's own user does. `not_requester`: that user never does.
    `after_untrusted`: what happens to calls with outside effects once content of outside origin is in the session.
    """

    denied: frozenset[str] = frozenset()
    asks_for: frozenset[str] = frozenset()
    approvers: frozenset[str] = frozenset()
    not_requester: bool = False
    after_untrusted: AfterUntrusted = "ask"
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict[str, tuple[Rule, ...]])
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What conditions know of the principal and the agent."""

    def judge(self, tool: Subject, arguments: Mapping[str, Any]) -> Verdict | None:
        """What the rules say of a call; None: nothing."""
        rules = self.rules.get(tool.name)
        if rules is None:
            return None
        about = {"name": tool.name, "group": tool.group, "source": tool.source}
        return judge(rules, Facts({**self.about, "args": arguments, "tool": about}))


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of a deployment: its rules in order; the rest is as in RunPolicy."""

    rules: tuple[Rule, ...] = ()
    asks_for: Selection = field(default_factory=Selection)
    approvers: frozenset[str] = frozenset()
    not_requester: bool = False
    after_untrusted: AfterUntrusted = "ask"

    def of_run(self, tools: Sequence[Subject], principal: Principal, agent: str) -> RunPolicy:
        """What of it holds for the calls of a run."""
        who = {"tenant": principal.tenant, "user": principal.user, "roles": list(principal.roles)}
        mine = self._rules_for(principal)
        ruled = {tool.name: rules for tool in tools if (rules := _matching(mine, tool))} if mine else {}
        return RunPolicy(
            denied=frozenset(tool.name for tool in tools if _is_denied(tool, ruled.get(tool.name, ()), principal)),
            asks_for=frozenset(tool.name for tool in tools if tool in self.asks_for),
            approvers=self.approvers,
            not_requester=self.not_requester,
            after_untrusted=self.after_untrusted,
            rules=ruled,
            about={"principal": who, "agent": agent},
        )

    def may_call(self, tool: Subject, principal: Principal) -> bool:
        """Whether there are any arguments with which this principal may call the tool."""
        return not _is_denied(tool, _matching(self._rules_for(principal), tool), principal)

    def may_ask(self, tool: Subject, principal: Principal) -> bool:
        """Whether the configuration may ask a person about this principal's calls of the tool."""
        rules = _matching(self._rules_for(principal), tool)
        return tool in self.asks_for or any(rule.effect == "ask" for rule in rules)

    def _rules_for(self, principal: Principal) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.is_for(principal.roles))


def _matching(rules: Sequence[Rule], tool: Subject) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if tool in rule.tools)


def _is_denied(tool: Subject, rules: Sequence[Rule], principal: Principal) -> bool:
    """Whether every call is refused, whatever its arguments. `rules` are in order: what always denies stands first."""
    if rules and rules[0].effect == "deny" and rules[0].condition is None:
        return True
    if not tool.permission or tool.permission in principal.roles:
        return False
    always_asks = any(rule.effect == "ask" and rule.condition is None for rule in rules)
    return always_asks or not any(rule.effect == "allow" for rule in rules)
