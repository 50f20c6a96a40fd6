"""The chain: the one way in which every tool call runs, an ordered tuple of small stages, folded once."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from talaria.artifacts.artifact import Artifact
from talaria.core.messages import Image
from talaria.core.plan import Plan
from talaria.core.principal import Principal
from talaria.core.redaction import Redactor
from talaria.journal.entries import Outcome
from talaria.journal.state import CallState, RunState, SessionState
from talaria.memory.memories import Memories
from talaria.policy.policy import RunPolicy
from talaria.ports.sandbox import Sandbox
from talaria.quotas.quotas import RunQuota
from talaria.tools.breaker import Breakers
from talaria.tools.context import Subagents
from talaria.tools.declaration import Tool
from talaria.tools.health import ArgumentHealth
from talaria.tools.session import Session


class ToolOutcome(msgspec.Struct, frozen=True, gc=False):
    """How a call ended. `text` and `images` are what the model gets; `whole` the full text where that was trimmed.

    `stop` is set when the tool ended the run, `may_retry` when another attempt may fare better.
    """

    text: str
    outcome: Outcome = "ok"
    whole: str | None = None
    stop: str | None = None
    may_retry: bool = False
    images: tuple[Image, ...] = ()


class Suspended(Exception):
    """The call waits for a person, or for a call before it that does. Nothing of it has run."""


class CallRun(Protocol):
    """What the stages may know of the run they serve, and do to it."""

    @property
    def state(self) -> SessionState:
        """The session's state."""
        ...

    @property
    def run(self) -> RunState:
        """The run's part of it."""
        ...

    @property
    def tools(self) -> Mapping[str, Tool[..., Any]]:
        """The run's tools, by name."""
        ...

    @property
    def principal(self) -> Principal:
        """Whom the run acts for."""
        ...

    @property
    def secrets(self) -> Mapping[str, str]:
        """What the request brought for its tools."""
        ...

    @property
    def redactor(self) -> Redactor:
        """Masks those secrets."""
        ...

    @property
    def deps(self) -> Any:
        """What the agent was given for its tools."""
        ...

    @property
    def session(self) -> Session:
        """The session as tools see it."""
        ...

    @property
    def sandbox(self) -> Sandbox | None:
        """The session's sandbox, made when it is first used; None where there are none."""
        ...

    @property
    def policy(self) -> RunPolicy:
        """What the deployment's policy says of the run's calls."""
        ...

    @property
    def quota(self) -> RunQuota | None:
        """The quotas that hold for the run, where there are any."""
        ...

    @property
    def argument_health(self) -> ArgumentHealth:
        """How calls fare at their arguments in this process."""
        ...

    @property
    def breakers(self) -> Breakers:
        """Which tools are left alone because their calls kept failing."""
        ...

    @property
    def memories(self) -> Memories:
        """What is kept of users from session to session."""
        ...

    def subagents_of(self, call: CallState) -> Subagents | None:
        """Gives tasks to subagents, for this call; None where the run has none."""
        ...

    async def begin(self, call: CallState, repairs: tuple[str, ...] = (), *, durably: bool = True) -> None:
        """Record that the call starts, and what of its arguments was repaired.

        Returns once that is durable; else at once, and it is durable in a moment.
        """
        ...

    def audit(self, action: str, outcome: str, **about: str) -> None:
        """Record a decision that somebody may have to account for; `about` are members of journal.entries.Audited."""
        ...

    def emit(self, call: CallState, name: str, data: Any) -> None:
        """Record something for the client, to be told at once."""
        ...

    def output(self, call: CallState, text: str) -> None:
        """Record a piece of what the call puts out, to be told at once."""
        ...

    async def save(self, call: CallState, name: str, data: AsyncIterator[bytes] | bytes) -> Artifact:
        """Keep a file for the user, and tell the client at once.

        Raises:
            InvalidRequest: it is too large.
            Conflict: the call is over.
        """
        ...

    def keep_plan(self, call: CallState, plan: Plan) -> bool:
        """Record the plan of the call's thread, unless it is that already; return whether the call changed it."""
        ...

    def ask(self, call: CallState, reason: str, arguments: str) -> None:
        """Record the question whether this call may run, with these arguments."""
        ...

    async def in_turn(self, call: CallState) -> None:
        """Return when the calls with side effects before this one have ended.

        Raises:
            Suspended: one of them waits for a person.
        """
        ...

    async def whole(self, call_id: str) -> str | None:
        """Return the whole of a result in this session that was shortened, or None if there is none."""
        ...

    async def pause(self, seconds: float) -> None:
        """Wait, by the clock."""
        ...

    async def on_thread(self, fn: Callable[[], Any]) -> Any:
        """Run a blocking function on a daemon thread; when cancelled, the thread is abandoned."""
        ...

    async def in_task(self, body: Awaitable[Any]) -> Any:
        """Run a coroutine in a task of its own; when cancelled, one that does not end is abandoned."""
        ...


class CallContext:
    """One call on its way through the chain; each stage adds what it has found out.

    `arguments` are those that run as JSON values, `values` what the function takes, and `repairs` says what was done to
    what the model wrote. `asks`: why a person must be asked
    before this call, and `asks_anew` whether also where consent to the tool is remembered; `rule` says so. `untrusted`:
    what the tool said came from outside; `is_data`: it is none of the harness's own words, at least.
    """

    __slots__ = (
        "arguments",
        "asks",
        "asks_anew",
        "began",
        "call",
        "deadline",
        "is_data",
        "repairs",
        "rule",
        "run",
        "tool",
        "untrusted",
        "values",
    )

    def __init__(self, run: CallRun, call: CallState) -> None:
        self.run = run
        self.call = call
        self.tool: Tool[..., Any] = _NO_TOOL
        self.arguments: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.repairs: tuple[str, ...] = ()
        self.asks = ""
        self.asks_anew = False
        self.rule = ""
        self.deadline: float | None = None
        self.began: float | None = None
        self.untrusted = False
        self.is_data = False

    @property
    def shown(self) -> str:
        """The arguments that run as strict JSON: what people are shown, in which a name stands once."""
        return msgspec.json.encode(self.arguments).decode()

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this call, restarts included."""
        return f"{self.run.run.id}/{self.call.call.id}"

    def audit(self, action: str, outcome: str, *, subject: str = "", rule: str = "", detail: str = "") -> None:
        """Record a decision about this call; see journal.entries.Audited. `subject`: the tool, unless it is named."""
        name, call_id = subject or self.tool.name, self.call.call.id
        self.run.audit(action, outcome, subject=name, call_id=call_id, rule=rule, detail=detail)


def _nothing() -> None: ...


_NO_TOOL: Tool[..., Any] = Tool("none", "Stands where the tool is not known yet.", {"type": "object"}, _nothing)

Proceed = Callable[[CallContext], Awaitable[ToolOutcome]]
Stage = Callable[[CallContext, Proceed], Awaitable[ToolOutcome]]


def fold(stages: Sequence[Stage]) -> Proceed:
    """Make one function of the stages: each gets the call and the rest of the chain; the last one must not go on."""
    proceed: Proceed = _past_the_end
    for stage in reversed(stages):
        proceed = _before(stage, proceed)
    return proceed


def _before(stage: Stage, rest: Proceed) -> Proceed:
    def proceed(context: CallContext) -> Awaitable[ToolOutcome]:
        return stage(context, rest)

    return proceed


async def _past_the_end(context: CallContext) -> ToolOutcome:
    raise AssertionError(f"no stage ran the call {context.call.call.name}")
