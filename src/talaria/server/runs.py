"""Runs: how one stands, and its events from any position on."""

from starlette.responses import Response

from talaria.core.errors import InvalidRequest
from talaria.core.events import START, Position, read_position
from talaria.server.call import Call, reply
from talaria.server.event_stream import EventStream
from talaria.server.problems import Refused


async def run(call: Call) -> Response:
    """How a run stands."""
    return reply(await call.parts.lookup.run(call.principal, call.path("runId")))


async def events(call: Call) -> EventStream:
    """A run's events after the last one the client has, else all of them."""
    run_id, principal = call.path("runId"), call.principal
    key = await call.parts.lookup.place(principal, run_id)
    after = position(run_id, call.request.headers.get("last-event-id") or call.query("after"))
    try:
        await call.parts.lookup.check_position(run_id, after)
    except InvalidRequest as error:
        raise Refused(400, error.message) from None
    frames = call.parts.lookup.follow(run_id, key, after)
    return EventStream(frames, run_id, call.streams, {"X-Run-Id": run_id, "X-Session-Id": key.session})


def position(run_id: str, event_id: str | None) -> Position:
    """The position in an event id of this run; the start where there is none.

    Raises:
        Refused: it is no event id, or one of another run.
    """
    if event_id is None:
        return START
    run, slash, place = event_id.rpartition("/")
    if not slash or run != run_id:
        raise Refused(400, f"'{event_id[:80]}' is not an event id of run '{run_id[:80]}'; send it exactly as received")
    try:
        return read_position(place)
    except InvalidRequest as error:
        raise Refused(400, error.message) from None
