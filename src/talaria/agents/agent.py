"""What an agent is: a name, a model, instructions and tools. It holds no state; one serves any number of sessions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from talaria.core.errors import ConfigurationError
from talaria.tools.declaration import Tool


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """The tool-calling agent.

    `model` is routed like a request's modelName; empty means the configured default. `tools` are tools, or names of
    registered tools and groups (`group:files`); None means all that are registered. `deps` is handed to its tools.
    `output_type`: what its answers are, any type that pydantic knows; None for text.
    """

    name: str
    model: str = ""
    instructions: str = ""
    tools: Sequence[Tool[..., Any] | str] | None = None
    deps: Any = field(default=None, repr=False)
    output_type: Any = None

    def __post_init__(self) -> None:
        for tool in self.tools or ():
            if not isinstance(tool, (Tool, str)):  # pyright: ignore[reportUnnecessaryIsInstance] - users err
                raise ConfigurationError(f"agent '{self.name}': {tool!r} is no tool; decorate the function with @tool")
