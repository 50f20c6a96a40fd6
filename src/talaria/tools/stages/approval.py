"""Approval: calls that need a person's consent, and questions to the user, are asked and suspended."""

from typing import Literal

import msgspec
import structlog

from talaria.core.redaction import Redactor
from talaria.journal.entries import ApprovalResolved
from talaria.journal.fold import UNKNOWN
from talaria.journal.questions import CLIENT, QUESTION
from talaria.journal.state import CallState
from talaria.tools.ask_user import ASK_USER, UNANSWERED
from talaria.tools.chain import CallContext, Proceed, Suspended, ToolOutcome
from talaria.tools.consent import CONSENT

_log = structlog.get_logger(__name__)

DENIED = (
    "Not run: content from outside is in this conversation, and after that no call with outside effects is allowed "
    "(policy.afterUntrusted). Tell the user what you wanted to do."
)
_REFUSALS = {
    "declined": "Not run: a person declined this call.",
    "expired": "Not run: approval timed out, nobody decided in time.",
    "cancelled": "Not run: the run was cancelled while this call waited for approval.",
    "superseded": "Not run: the user sent a new message while this call waited for approval.",
}


async def approval(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Let an approved call on with the arguments on record; anything but a clear consent is a refusal."""
    call = context.call
    if call.resolved is not None:
        if call.resolved.outcome in ("approved", "edited"):
            return _told(await proceed(context), call.resolved, context.run.redactor)
        if call.resolved.outcome == "answered":
            context.values = {**context.values, "answer": call.resolved.answer}
            done = await proceed(context)
            return done if call.agreed is None else _told(done, call.agreed, context.run.redactor)
        return _refusal(call, call.resolved)
    if call.status == "asked":
        raise Suspended
    reason = _after_untrusted(context)
    if reason == "deny":
        return ToolOutcome(DENIED, "refused")
    reason = reason or _reason(context)
    if not reason:
        return await proceed(context)
    if reason == QUESTION:
        context.run.ask(call, reason, context.shown)
        raise Suspended
    if context.run.run.turn.bypass and reason != "untrusted" and context.tool is not CONSENT:  # that is an agent's own
        context.audit("hitl.bypassed", "bypassed", rule=context.rule, detail=reason)
        return await proceed(context)
    if context.asks:
        context.audit("tool.permission", "ask", rule=context.rule, detail=reason)
    context.run.ask(call, reason, context.shown)
    raise Suspended


def _told(done: ToolOutcome, resolved: ApprovalResolved, redactor: Redactor) -> ToolOutcome:
    """The model must not believe that its own arguments ran when a person changed them."""
    if done.outcome not in ("ok", "error"):
        return done  # it did not run, or nobody knows
    said = f" They said: {resolved.comment}" if resolved.comment else ""
    if resolved.outcome == "edited":
        note = f"[A person changed the arguments before this ran, to {resolved.arguments}.{said}]\n"
    else:
        note = f"[A person approved this call.{said}]\n" if said else ""
    return msgspec.structs.replace(done, text=redactor.mask(note) + done.text) if note else done


def _refusal(call: CallState, resolved: ApprovalResolved) -> ToolOutcome:
    reason = call.asked.reason if call.asked is not None else ""
    text = (UNANSWERED if reason == QUESTION else _REFUSALS)[resolved.outcome]
    outcome = "refused"
    if reason == CLIENT:
        why = {"expired": "no result came in time"}.get(resolved.outcome, f"the call was {resolved.outcome}")
        return ToolOutcome(f"It is not known whether this call took effect: {why}.", "unknown")
    if reason == UNKNOWN:
        text = "It is not known whether this call took effect before a restart, and it was not run again."
        outcome = "unknown"
    return ToolOutcome(f"{text} They said: {resolved.comment}" if resolved.comment else text, outcome)


def _after_untrusted(context: CallContext) -> Literal["", "deny", "untrusted"]:
    """What the policy says of a call that acts outside after content of outside origin.

    Consent that was remembered does not count: it was given to a model that nobody outside had spoken to.
    """
    run, tool, said = context.run, context.tool, context.run.policy.after_untrusted
    if not run.state.untrusted or not tool.acts_outside or said == "allow":
        return ""
    detail = "content of outside origin is in the session"
    context.audit("untrusted", said, rule="policy.afterUntrusted", detail=detail)
    return "deny" if said == "deny" else "untrusted"


def _reason(context: CallContext) -> str:
    """Why this call must be asked for, or an empty string."""
    tool = context.tool
    if tool is ASK_USER:
        return QUESTION
    if context.asks_anew:
        return context.asks
    if _is_remembered(context):
        return ""
    if context.asks:
        return context.asks
    if tool.name in context.run.policy.asks_for:
        return "configured"
    if isinstance(tool.approval, bool):
        return "declared" if tool.approval else ""
    try:
        return "declared" if tool.approval(context.values) else ""
    except Exception:  # noqa: BLE001 - the tool's own rule: when it fails, a person is asked
        _log.exception("approval_rule_failed", tool=tool.name, effect="a person is asked")
        return "declared"


def _is_remembered(context: CallContext) -> bool:
    """Whether somebody who may decide agreed to all calls of this tool in this session."""
    agreed = context.run.state.remembered.get(context.tool.name)
    if agreed is None or context.tool is CONSENT:
        return False
    policy, user = context.run.policy, context.run.state.key.user
    if policy.not_requester and agreed.by == user:
        return False
    return not policy.approvers or agreed.role in policy.approvers
