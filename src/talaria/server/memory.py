"""Memory: what agents remember of whoever asks."""

from starlette.responses import Response

from talaria.runtime.memory import forget, list_memories
from talaria.server.call import Call, reply


async def memory(call: Call) -> Response:
    """A page of memories, the last changed one first."""
    return reply(await list_memories(call.parts.memories, call.principal, call.query("cursor")))


async def forget_memory(call: Call) -> Response:
    """Delete a memory, or a part of it."""
    await forget(call.parts.memories, call.principal, call.query("assistantId"), call.query("path"))
    return Response(status_code=204)
