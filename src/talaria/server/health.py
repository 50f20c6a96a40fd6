"""Liveness and readiness."""

from starlette.responses import Response

from talaria.core.errors import JournalError, Overloaded
from talaria.server.call import Call, reply


async def healthz(_: Call) -> Response:
    """The process lives."""
    return reply({"status": "ok"})


async def readyz(call: Call) -> Response:
    """The server can take runs: the store can be written to, and nobody has asked it to stop.

    Without sandboxes it can, too, only not with the tools that need one: `degraded` says what is missing.

    Raises:
        Overloaded: it cannot; the message says what is missing.
    """
    if call.parts.engine.is_stopping:
        raise Overloaded("the server is stopping", retry_after=5)
    try:
        await call.parts.kit.store.check()
    except JournalError as error:
        raise Overloaded(f"store: {error.message}", retry_after=30) from error
    without = call.parts.sandboxes.refusal
    return reply({"status": "ready"} | ({"degraded": ["sandbox"]} if without else {}))
