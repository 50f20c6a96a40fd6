"""Chat: a turn as a stream, decisions about its calls, cancelling it."""

from functools import partial

from starlette.responses import Response

from talaria.runtime.desk import Decision
from talaria.runtime.request import ChatRequest
from talaria.server.body import read_body
from talaria.server.call import Call, reply
from talaria.server.event_stream import EventStream, stay
from talaria.server.requests import ApprovalRequest, CancelRequest, ToolResultRequest


async def chat_stream(call: Call) -> EventStream:
    """Put a turn on record, then stream it."""
    request = await read_body(call.request, ChatRequest)
    principal = call.principal
    turn = await call.parts.admission.submit(request, principal)
    if not turn.is_new:
        await call.parts.lookup.place(principal, turn.run_id)  # it may have expired since
    cancel = partial(call.parts.desk.cancel, principal, turn.run_id)
    return EventStream(
        call.parts.lookup.follow(turn.run_id, turn.key),
        turn.run_id,
        call.streams,
        {"X-Run-Id": turn.run_id, "X-Session-Id": turn.session_id},
        cancel if request.on_disconnect == "cancel" else stay,
    )


async def decide(call: Call) -> Response:
    """Decide about an open question; the answer is the decision in force."""
    body = await read_body(call.request, ApprovalRequest)
    decision = Decision(
        body.request_id,
        body.decision == "APPROVE",
        body.arguments,
        body.comment,
        body.remember == "session",
        answer=body.answer,
    )
    return reply(await call.parts.desk.decide(call.principal, decision))


async def tool_result(call: Call) -> Response:
    """Take the result of a call that the caller ran; the answer is the one in force."""
    body = await read_body(call.request, ToolResultRequest)
    said = await call.parts.desk.result(call.principal, body.request_id, body.result, is_error=body.is_error)
    return reply(said)


async def approvals(call: Call) -> Response:
    """The open questions that this principal may decide."""
    return reply({"approvals": await call.parts.lookup.approvals(call.principal)})


async def cancel(call: Call) -> Response:
    """Ask a run to end."""
    body = await read_body(call.request, CancelRequest)
    return reply(await call.parts.desk.cancel(call.principal, body.run_id))
