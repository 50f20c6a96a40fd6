"""What a tool's body may know about the call it serves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from talaria.core.principal import Principal
from talaria.tools.session import Session, session_in_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Handed to the parameter of a tool that is annotated with this type; the model never sees that parameter.

    `secrets` are the request's toolContext and never show in a repr. `deps` is what the agent was given.
    `session` is the run's session, and its variables can be set.
    `idempotency_key` is the same for every attempt at this call, restarts included; hand it to what can use one.
    `deadline` is the event loop's time at which the call is given up, None without a limit.
    """

    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    deps: Any = field(default=None, repr=False)
    principal: Principal = field(default_factory=Principal)
    session: Session = field(default_factory=session_in_memory, repr=False)
    run_id: str = ""
    tool_call_id: str = ""
    idempotency_key: str = ""
    deadline: float | None = None
