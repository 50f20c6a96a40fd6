"""Sends a request to outside, within bounds, and says how it was taken."""

import asyncio
from typing import NamedTuple

from talaria.core.errors import ModelUnavailable
from talaria.models.retry_after import retry_after
from talaria.notify.post import Format, Post, code_refusal
from talaria.ports.model import HttpCall, HttpReply, Transport

CONNECT = 5.0
TIMEOUT = 10.0
"""Seconds for all of a request and its answer."""
LONGEST_ANSWER = 64 * 1024
LONGEST_WAIT = 3600.0


class Verdict(NamedTuple):
    """How a request was taken: `refusal` is "" if well; `wait`: seconds for which the receiver wants no more."""

    refusal: str = ""
    wait: float = 0.0


async def send(transport: Transport, post: Post, how: Format, now: int) -> Verdict:
    """Send; anything but a 2xx answer that the format calls good is a refusal. Redirects are not followed."""
    try:
        async with asyncio.timeout(TIMEOUT):
            reply = await transport.send(HttpCall(post.url, post.headers, post.body), connect_timeout=CONNECT)
            try:
                body = await _read(reply)
            finally:
                await reply.close()
    except TimeoutError:
        return Verdict(f"no answer within {TIMEOUT:g} s")
    except ModelUnavailable as error:
        return Verdict(error.operator)
    if not 200 <= reply.status < 300:
        wait = retry_after(reply.headers, now) if reply.status in (429, 503) else None
        return Verdict(f"status {reply.status}", min(wait or 0.0, LONGEST_WAIT))
    return Verdict(code_refusal(body, how.code) if how.code else "")


async def _read(reply: HttpReply) -> bytes:
    body = bytearray()
    async for chunk in reply.chunks():
        body += chunk
        if len(body) > LONGEST_ANSWER:
            break
    return bytes(body[:LONGEST_ANSWER])
