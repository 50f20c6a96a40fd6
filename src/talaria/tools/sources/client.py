"""Client tools: the caller runs the call and says what came of it, as durably as a person decides about one."""

from talaria.core.external import ExternalTool
from talaria.tools.declaration import Tool
from talaria.tools.errors import CallFailed


async def _said(answer: str, *, is_error: bool) -> str:
    """What the model gets; the client stage puts the caller's result in the arguments' place."""
    if is_error:
        raise CallFailed(answer)
    return answer


def client_tool(spec: ExternalTool) -> Tool[..., object]:
    """The tool; nothing of it runs here, so that a call which a crash cut short may go on."""
    return Tool(
        spec.name,
        spec.description,
        spec.parameters,
        _said,
        by_client=True,
        idempotent=True,
        parallel=True,
        untrusted=True,
        breaker=False,
        source="external",
    )
