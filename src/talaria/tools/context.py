"""What a tool's body may know about the call it serves."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from talaria.artifacts.artifact import Artifact
from talaria.core.errors import Conflict
from talaria.core.plan import Plan
from talaria.core.principal import Principal
from talaria.ports.sandbox import Sandbox
from talaria.tools.session import Session, session_in_memory


class Subagents(Protocol):
    """Gives tasks to the run's subagents, for one call."""

    async def start(self, name: str, prompt: str, description: str, *, background: bool) -> str:
        """Give a subagent a task; return what it said in the end, or, in the background, the task's id.

        Raises:
            InvalidRequest: there is no such subagent.
            TaskFailed: it came to no end.
        """
        ...

    async def output(self, task: str, *, block: bool, seconds: float) -> str:
        """Return what a task in the background has come to; `block`: wait for its end, so long at most."""
        ...


class Outlet(Protocol):
    """Takes what a tool says while it runs."""

    def emit(self, name: str, data: Any) -> None:
        """Take an event for the client."""
        ...

    def output(self, text: str) -> None:
        """Take a piece of text for the client."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Handed to the parameter of a tool that is annotated with this type; the model never sees that parameter.

    `secrets` are the request's toolContext and never show in a repr. `deps` is what the agent was given.
    `session` is the run's session, and its variables can be set. `sandbox` is the session's own, made when it is first
    used; None where there are none.
    `idempotency_key` is the same for every attempt at this call, restarts included; hand it to what can use one.
    `deadline` is the event loop's time at which the call is given up, None without a limit. `outlet`, `whole`, `keep`,
    `subagents`, `memory` and `keep_plan` (which returns whether the call changed the plan) are the harness's own.
    """

    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    deps: Any = field(default=None, repr=False)
    principal: Principal = field(default_factory=Principal)
    session: Session = field(default_factory=session_in_memory, repr=False)
    sandbox: Sandbox | None = field(default=None, repr=False)
    subagents: Subagents | None = field(default=None, repr=False)
    run_id: str = ""
    tool_call_id: str = ""
    idempotency_key: str = ""
    deadline: float | None = None
    outlet: Outlet | None = field(default=None, repr=False)
    whole: Callable[[str], Awaitable[str | None]] | None = field(default=None, repr=False)
    keep: Callable[[str, AsyncIterator[bytes] | bytes], Awaitable[Artifact]] | None = field(default=None, repr=False)
    memory: Callable[[str, dict[str, Any]], Awaitable[str]] | None = field(default=None, repr=False)
    keep_plan: Callable[[Plan], bool] | None = field(default=None, repr=False)

    def emit(self, name: str, data: Any = None) -> None:
        """Send the client a `custom` event, from any thread; `data` is what has a JSON form. The model never sees it.

        Without a run (in a test of the function alone), and once the call is over, nothing comes of it.

        Raises:
            TypeError: the data has no JSON form.
            ValueError: the name is not 1 to 128 characters, the data more than 32 KiB, or that of all events 1 MiB.
        """
        if self.outlet is not None:
            self.outlet.emit(name, data)

    def output(self, text: str) -> None:
        """Send the client text while the tool runs, as `tool_output` events, from any thread.

        The text is gathered for up to 100 ms, and cut at the tool's result limit. The model gets only the result.
        """
        if self.outlet is not None:
            self.outlet.output(text)

    async def save_file(self, name: str, data: AsyncIterator[bytes] | bytes) -> Artifact:
        """Hand the user a file: it is kept, and the client gets an `artifact` event that says where it can be had.

        Its type comes of its content and its name; the model never sees it.

        Raises:
            InvalidRequest: it has more bytes than `artifacts.maxBytes`.
            Conflict: there is no run (in a test of the function alone, in a process of its own), or the call is over.
        """
        if self.keep is None:
            raise Conflict(f"'{name}' cannot be kept: this is no call of a run; an isolated tool returns what it made")
        return await self.keep(name, data)
