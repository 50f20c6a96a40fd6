"""Trim: a result longer than the limit reaches the model as its head and tail."""

import json

import msgspec

from talaria.tools.chain import CallContext, Proceed, ToolOutcome
from talaria.tools.recall import RECALL, is_recall


async def trim(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Cut the middle out of a long result, say how much, and keep the whole beside the journal."""
    done = await proceed(context)
    limit = context.tool.result_limit or context.run.run.turn.limits.result_limit
    if len(done.text) <= limit:
        return done
    call_id = context.call.call.id if is_recall(context.run.tools.get(RECALL)) else ""
    return msgspec.structs.replace(done, text=shorten(done.text, limit, call_id), whole=done.text, may_retry=False)


def shorten(text: str, limit: int, call_id: str = "") -> str:
    """Return about `limit` characters: two thirds from the beginning, one third from the end, and what was left out.

    `call_id`: under which the model can recall the rest; empty where it cannot.
    """
    head, tail = limit * 2 // 3, limit // 3
    cut = text[head : len(text) - tail]
    how = f"; {RECALL}(call_id={json.dumps(call_id)}, offset={head}) shows them" if call_id else ""
    note = f"\n\n[… {len(cut)} of {len(text)} characters ({cut.count(chr(10))} lines) left out{how} …]\n\n"
    return text[:head] + note + (text[-tail:] if tail else "")
