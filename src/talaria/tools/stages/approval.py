"""Approval: calls that need a person's consent, and questions to the user, are asked and suspended."""

import msgspec
import structlog

from talaria.journal.entries import ApprovalResolved
from talaria.journal.fold import UNKNOWN
from talaria.journal.questions import QUESTION
from talaria.journal.state import CallState
from talaria.tools.ask_user import ASK_USER, UNANSWERED
from talaria.tools.chain import CallContext, Proceed, Suspended, ToolOutcome
from talaria.tools.consent import CONSENT

_log = structlog.get_logger(__name__)

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
            return _told(await proceed(context), call.resolved)
        if call.resolved.outcome == "answered":
            context.values = {**context.values, "answer": call.resolved.answer}
            return await proceed(context)
        return _refusal(call, call.resolved)
    if call.status == "asked":
        raise Suspended
    reason = _reason(context)
    if not reason:
        return await proceed(context)
    context.run.ask(call, reason, _plain(context) if reason == QUESTION else context.repaired)
    raise Suspended


def _plain(context: CallContext) -> str:
    """The arguments as strict JSON: clients are shown what stands in them."""
    return msgspec.json.encode(context.arguments).decode()


def _told(done: ToolOutcome, resolved: ApprovalResolved) -> ToolOutcome:
    """The model must not believe that its own arguments ran when a person changed them."""
    if done.outcome not in ("ok", "error"):
        return done  # it did not run, or nobody knows
    said = f" They said: {resolved.comment}" if resolved.comment else ""
    if resolved.outcome == "edited":
        note = f"[A person changed the arguments before this ran, to {resolved.arguments}.{said}]\n"
    else:
        note = f"[A person approved this call.{said}]\n" if said else ""
    return msgspec.structs.replace(done, text=note + done.text) if note else done


def _refusal(call: CallState, resolved: ApprovalResolved) -> ToolOutcome:
    reason = call.asked.reason if call.asked is not None else ""
    text = (UNANSWERED if reason == QUESTION else _REFUSALS)[resolved.outcome]
    outcome = "refused"
    if reason == UNKNOWN:
        text = "It is not known whether this call took effect before a restart, and it was not run again."
        outcome = "unknown"
    return ToolOutcome(f"{text} They said: {resolved.comment}" if resolved.comment else text, outcome)


def _reason(context: CallContext) -> str:
    """Why this call must be asked for, or an empty string."""
    tool = context.tool
    if tool is ASK_USER:
        return QUESTION
    if tool is not CONSENT and tool.name in context.run.state.remembered:
        return ""
    if tool.name in context.run.asks_for:
        return "configured"
    if isinstance(tool.approval, bool):
        return "declared" if tool.approval else ""
    try:
        return "declared" if tool.approval(context.values) else ""
    except Exception:  # noqa: BLE001 - the tool's own rule: when it fails, a person is asked
        _log.exception("approval_rule_failed", tool=tool.name, effect="a person is asked")
        return "declared"
