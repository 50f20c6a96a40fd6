"""The policy that the settings ask for: what it names is there, and its conditions compile."""

from collections.abc import Sequence

from talaria.core.errors import ConfigurationError
from talaria.policy.conditions import Condition
from talaria.policy.policy import Policy
from talaria.policy.rules import Effect, Rule, in_order
from talaria.policy.selection import Subject, select
from talaria.runtime.policy_settings import RuleSettings
from talaria.runtime.selections import check_selection
from talaria.runtime.settings import Settings


def make_policy(settings: Settings, tools: Sequence[Subject]) -> Policy:
    """Make the policy of a deployment with these tools.

    Raises:
        ConfigurationError: a name or a pattern means no tool, or a condition does not compile; it says which.
    """
    approval = settings.approval
    required = select(approval.required_tools)
    if "required_tools" in approval.model_fields_set:  # the shipped default may name tools that are not there
        check_selection("approval.requiredTools", required, tools)
    rules = [_rule(f"policy.rules[{at}]", each, tools) for at, each in enumerate(settings.policy.rules)]
    approvers, after = frozenset(approval.approvers), settings.policy.after_untrusted
    return Policy(in_order(rules), required, approvers, approval.not_requester, after)


def _rule(where: str, rule: RuleSettings, tools: Sequence[Subject]) -> Rule:
    effect, names = _said(rule)
    chosen = select(each for text in names.split(",") if (each := text.strip()))
    check_selection(f"{where}.{effect}", chosen, tools)
    try:
        condition = None if rule.when is None else Condition(rule.when)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}.when: {error.message}") from error
    return Rule(where, effect, chosen, None if rule.roles is None else frozenset(rule.roles), condition)


def _said(rule: RuleSettings) -> tuple[Effect, str]:
    if rule.deny is not None:
        return "deny", rule.deny
    return ("ask", rule.ask) if rule.ask is not None else ("allow", rule.allow or "")
