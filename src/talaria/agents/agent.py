"""What an agent is: a name, a model, instructions and tools. It holds no state; one serves any number of sessions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from talaria.core.errors import ConfigurationError
from talaria.core.principal import Principal
from talaria.core.subagents import Subagent
from talaria.tools.declaration import Tool
from talaria.tools.methods import tools_of


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """The tool-calling agent.

    `model` is routed like a request's modelName; empty means the configured default. `tools` are tools, or names of
    registered tools and groups (`group:files`), or objects whose methods are tools, which gives all of them; None means
    all that are registered. `deps` is handed to its tools. `output_type`: what its answers are, any type that pydantic
    knows; None for text. `roles`: who has none of them may not use it; empty: everybody may. `subagents`:
    those that it may give tasks to; None: all that are configured. `skills`: names of configured ones; None: all.

    Raises:
        ToolInvalid: something in `tools` is none, or a method that is not bound.
        ConfigurationError: `roles` is one text rather than a list.
    """

    name: str
    model: str = ""
    instructions: str = ""
    tools: Sequence[object] | None = None
    deps: Any = field(default=None, repr=False)
    output_type: Any = None
    roles: Sequence[str] = ()
    subagents: Sequence[Subagent] | None = None
    skills: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.roles, str):
            raise ConfigurationError(f"agent {self.name}: roles is a list; write ['{self.roles}']")
        if self.tools is not None:
            object.__setattr__(self, "tools", tools_of(self.tools))

    def admits(self, principal: Principal) -> bool:
        """Whether somebody may use it."""
        return not self.roles or any(role in principal.roles for role in self.roles)

    @property
    def chosen(self) -> tuple[Tool[..., Any] | str, ...] | None:
        """`tools`, with objects replaced by the tools that they have."""
        return cast("tuple[Tool[..., Any] | str, ...] | None", self.tools)
