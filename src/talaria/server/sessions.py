"""Sessions: listed, shown, deleted."""

from starlette.responses import Response

from talaria.core.errors import InvalidRequest
from talaria.runtime.lookup import PAGE
from talaria.server.call import Call, reply

MOST = 200
LONGEST = 200
"""Characters of a search."""


async def sessions(call: Call) -> Response:
    """A page of sessions, newest first."""
    page = await call.parts.lookup.sessions(call.principal, call.query("cursor"), limit(call), search(call))
    return reply(page)


async def session(call: Call) -> Response:
    """A session with its messages and open questions."""
    view = await call.parts.lookup.session(call.principal, call.path("sessionId"), assistant(call))
    return reply(view)


async def delete(call: Call) -> Response:
    """Delete a session with all that hangs on it."""
    await call.parts.deletion.delete(call.principal, call.path("sessionId"), assistant(call))
    return Response(status_code=204)


def assistant(call: Call) -> str | None:
    """Whose session it is; an empty one is none, which is not the same as any."""
    return call.request.query_params.get("assistantId")


def search(call: Call) -> str:
    """What the sessions of a page have in common.

    Raises:
        InvalidRequest: it is too long.
    """
    text = call.query("search") or ""
    if len(text) > LONGEST:
        raise InvalidRequest(f"search takes up to {LONGEST} characters", ({"field": "search", "message": "too long"},))
    return text


def limit(call: Call) -> int:
    """How many sessions a page is to have.

    Raises:
        InvalidRequest: not a number from 1 to 200.
    """
    text = call.query("limit") or str(PAGE)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST):
        raise InvalidRequest(
            f"limit must be a number from 1 to {MOST}", ({"field": "limit", "message": "out of range"},)
        )
    return int(text)
