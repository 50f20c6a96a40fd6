"""Retry: a call that failed is made again, where its tool says so and a repetition does no harm."""

import asyncio
import random
from collections.abc import Callable

import msgspec
import structlog

from talaria.tools.chain import CallContext, Proceed, ToolOutcome

BASE = 0.5
LONGEST = 8.0
"""Seconds: the first wait and the longest one are at most this long."""
_log = structlog.get_logger(__name__)


async def retry(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Run the call up to `retries` more times, all within its deadline and under the same idempotency key."""
    tool = context.tool
    for tried in range(tool.retries):
        done = await proceed(context)
        if not done.may_retry:
            return done
        wait = backoff(tried)
        if _is_too_late(context, wait):
            return _told(done, tried + 1)
        _log.info("tool_retried", tool=tool.name, attempt=tried + 2, wait=round(wait, 3))
        await context.run.pause(wait)
    return _told(await proceed(context), tool.retries + 1)


def backoff(tried: int, jitter: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait after so many failures before this one: full jitter under a limit that doubles."""
    return jitter() * min(LONGEST, BASE * 2.0**tried)


def _is_too_late(context: CallContext, wait: float) -> bool:
    """Whether the deadline comes first: then the error that there is says more than a time-out would."""
    return context.deadline is not None and asyncio.get_running_loop().time() + wait >= context.deadline


def _told(done: ToolOutcome, attempts: int) -> ToolOutcome:
    if attempts == 1 or not done.may_retry:
        return done
    return msgspec.structs.replace(done, text=f"{done.text}\nTried {attempts} times; the last error is shown.")
