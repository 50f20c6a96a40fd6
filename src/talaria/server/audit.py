"""The audit: decisions that somebody may have to account for, in pages, or all of them as lines of JSON."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from talaria.core.errors import InvalidRequest
from talaria.runtime.audit_log import Wanted
from talaria.server.call import Call, reply
from talaria.server.sessions import limit

LINES = "application/jsonl"
FORMATS = {"": False, "json": False, "jsonl": True}
PIECE = 64 * 1024
"""Bytes that leave in one write, give or take one line."""

_encode = msgspec.json.Encoder().encode


async def audit(call: Call) -> Response:
    """A page of decisions, newest first, or all of them."""
    wanted = Wanted(
        action=call.query("action") or "",
        outcome=call.query("outcome") or "",
        user=call.query("user") or "",
        since=_time(call, "from") or 0,
        before=_time(call, "to"),
    )
    if _wants_lines(call):
        lines = _lines(call.parts.audit_log.every(call.principal, wanted))
        return StreamingResponse(lines, headers={"Cache-Control": "no-store"}, media_type=LINES)
    return reply(await call.parts.audit_log.page(call.principal, wanted, call.query("cursor"), limit(call)))


def _wants_lines(call: Call) -> bool:
    """What `?format=` says, else the Accept header."""
    said = call.query("format") or ""
    if said not in FORMATS:
        raise InvalidRequest("format is json or jsonl", ({"field": "format", "message": "unknown"},))
    return FORMATS[said] if said else LINES in call.request.headers.get("accept", "")


async def _lines(entries: AsyncIterator[dict[str, Any]]) -> AsyncIterator[bytes]:
    """Made as they can be written: a slow client costs one piece."""
    piece = bytearray()
    async for entry in entries:
        piece += _encode(entry) + b"\n"
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _time(call: Call, name: str) -> int | None:
    """A parameter that is a time, in ms.

    Raises:
        InvalidRequest: it is none.
    """
    text = call.query(name)
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
        return max(0, int(time.replace(tzinfo=time.tzinfo or UTC).timestamp() * 1000))
    except (ValueError, OverflowError):
        said = f"{name} must be a time such as 2026-01-31T08:00:00Z"
        raise InvalidRequest(said, ({"field": name, "message": "not a time"},)) from None
