"""Mask: the request's secrets never leave a tool in its text."""

import msgspec

from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def mask(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Replace every form of every known secret in what the tool says."""
    done = await proceed(context)
    redactor = context.run.redactor
    if not redactor:
        return done
    stop = None if done.stop is None else redactor.mask(done.stop)
    return msgspec.structs.replace(done, text=redactor.mask(done.text), stop=stop)
