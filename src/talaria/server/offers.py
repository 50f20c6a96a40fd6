"""What there is to choose from: models, tools, agents."""

from starlette.responses import Response

from talaria.runtime import offers
from talaria.server.call import Call, reply


async def models(call: Call) -> Response:
    """The models that the configuration names."""
    return reply(offers.models(call.parts.kit))


async def tools(call: Call) -> Response:
    """The tools that the principal may call."""
    return reply(offers.tools(call.parts.kit, call.principal, sandboxes=call.parts.sandboxes.is_offered))


async def agents(call: Call) -> Response:
    """The agents that the principal may use."""
    return reply(offers.agents(call.parts.kit, call.principal))
