"""Usage: who used how much."""

from starlette.responses import Response

from talaria.server.call import Call, reply


async def usage(call: Call) -> Response:
    """Sums of what was used, as far as the principal may see it."""
    by = [name for name in (call.query("by") or "").split(",") if name]
    view = await call.parts.usage.usage(call.principal, list(dict.fromkeys(by)), call.query("from"), call.query("to"))
    return reply(view)
