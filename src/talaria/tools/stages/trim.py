"""Trim: a result longer than the limit reaches the model as its head and tail."""

from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def trim(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Cut the middle out of a long result, say how much, and keep the whole beside the journal."""
    done = await proceed(context)
    limit = context.tool.result_limit or context.run.run.turn.limits.result_limit
    if len(done.text) <= limit:
        return done
    return ToolOutcome(shorten(done.text, limit), done.outcome, done.text, done.stop)


def shorten(text: str, limit: int) -> str:
    """Return about `limit` characters: two thirds from the beginning, one third from the end, and what was left out."""
    head, tail = limit * 2 // 3, limit // 3
    cut = text[head : len(text) - tail]
    note = f"\n\n[… {len(cut)} of {len(text)} characters ({cut.count(chr(10))} lines) left out …]\n\n"
    return text[:head] + note + (text[-tail:] if tail else "")
