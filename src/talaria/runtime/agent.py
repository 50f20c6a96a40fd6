"""The public agent: a specification that can run by itself."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from talaria.agents.agent import AgentSpec
from talaria.core.events import ChatEvent
from talaria.runtime.results import RunResult
from talaria.runtime.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Agent(AgentSpec):
    """The tool-calling agent: a name, a model, instructions and tools. See `AgentSpec` for the fields.

    `run` and `stream` open a runtime of their own from ./talaria.yaml and the environment, for one turn. Programs
    that run more than that open one `Runtime` and use its methods of the same names.
    """

    async def run(self, query: str, *, session: str | None = None, **fields: Any) -> RunResult:
        """Run one turn to its end; see `Runtime.run`."""
        async with Runtime() as runtime:
            return await runtime.run(self, query, session=session, **fields)

    async def stream(self, query: str, *, session: str | None = None, **fields: Any) -> AsyncIterator[ChatEvent]:
        """Run one turn and yield its events; see `Runtime.stream`."""
        async with Runtime() as runtime:
            async for event in runtime.stream(self, query, session=session, **fields):
                yield event
