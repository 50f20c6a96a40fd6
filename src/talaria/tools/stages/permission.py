"""Permission: the principal may make this call. The policy's rules say so, else the role that the tool takes."""

import structlog

from talaria.policy.rules import Verdict
from talaria.tools.chain import CallContext, Proceed, ToolOutcome

POLICY = "policy"
_log = structlog.get_logger(__name__)


async def permission(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Refuse what a rule denies, or what takes a role that the principal has not; note where a rule wants a person.

    What a person edited comes by here again: nobody can approve what a rule denies.
    """
    verdict = context.run.policy.judge(context.tool, {**context.tool.defaults, **context.arguments})
    effect = None if verdict is None else verdict.effect
    if verdict is not None and verdict.problem:
        problem = context.run.redactor.mask(verdict.problem)
        _log.warning("condition_failed", rule=verdict.rule, tool=context.tool.name, problem=problem, effect=effect)
    if verdict is not None and effect == "deny":
        return _denied(context, verdict)
    lacks = bool(context.tool.permission) and context.tool.permission not in context.run.principal.roles
    if lacks and effect != "allow":
        return _refused(
            context, f"'{context.tool.name}' takes the role '{context.tool.permission}', which this user has not"
        )
    if verdict is not None:
        context.rule = verdict.rule
        if effect == "ask":
            context.asks, context.asks_anew = POLICY, verdict.depends
        elif lacks:
            _audit(context, "allow", "")
    return await proceed(context)


def _denied(context: CallContext, verdict: Verdict) -> ToolOutcome:
    name, context.rule = context.tool.name, verdict.rule
    if verdict.problem:
        why = f"a rule about '{name}' could not be checked with these arguments, which counts as denied"
    elif verdict.depends:
        why = f"a rule denies '{name}' with these arguments; with others it may be allowed"
    else:
        why = f"a rule denies '{name}' to this user"
    return _refused(context, why, verdict.problem)


def _refused(context: CallContext, why: str, problem: str = "") -> ToolOutcome:
    _audit(context, "deny", problem or why)
    return ToolOutcome(f"Not run: {why}. Do without, or tell the user.", "refused")


def _audit(context: CallContext, outcome: str, detail: str) -> None:
    context.audit("tool.permission", outcome, rule=context.rule, detail=context.run.redactor.mask(detail))
