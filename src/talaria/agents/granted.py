"""What a run is lent by its process, and what it is granted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

import structlog

from talaria.agents.own import OwnGrant
from talaria.agents.own_parts import Metrics
from talaria.artifacts.files import Files
from talaria.core.ids import SessionKey
from talaria.core.principal import Principal
from talaria.core.redaction import Redactor
from talaria.core.usage import Usage
from talaria.journal.index import index
from talaria.journal.session import Rows
from talaria.memory.memories import Memories
from talaria.policy.policy import RunPolicy
from talaria.ports.clock import Clock
from talaria.ports.model import Model, ModelRequest, ToolSpec
from talaria.ports.sandbox import Sandbox
from talaria.ports.store import Store
from talaria.quotas.quotas import Quotas
from talaria.tools.breaker import Breakers
from talaria.tools.chain import Proceed
from talaria.tools.declaration import Tool
from talaria.tools.health import ArgumentHealth
from talaria.tools.tasks import TaskPool
from talaria.tools.threads import ThreadPool

_log = structlog.get_logger("talaria.run")


class Recorder(Protocol):
    """Keeps each round's request somewhere people can read it."""

    def request(self, key: SessionKey, task: str, round_: int, request: ModelRequest, redactor: Redactor) -> None:
        """A round begins with this request, of a subagent's task perhaps; `redactor` masks the run's secrets."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What this process lends to every run. `chain` is what every tool call goes through, `rows` indexes entries.

    `priced`: usage with what it costs with a model, as far as prices are known.
    """

    clock: Clock
    store: Store
    model: Model
    threads: ThreadPool
    chain: Proceed
    argument_health: ArgumentHealth
    breakers: Breakers
    metrics: Metrics
    files: Files
    memories: Memories
    recorder: Recorder | None = None
    quotas: Quotas | None = None
    rows: Rows = index
    priced: Callable[[Usage, str], Usage] = lambda usage, _: usage
    tasks: TaskPool = field(default_factory=TaskPool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subagent:
    """A subagent of a run. `grant` says what it may use, once asked; `max_rounds`: how often it asks its model."""

    name: str
    description: str
    system: str
    model: str = ""
    max_rounds: int | None = None
    grant: Callable[[], "Granted"]
    specs: Callable[[], tuple[ToolSpec, ...]]


@dataclass(frozen=True, slots=True)
class Granted:
    """What one run may use: its tools, its secrets, whom it acts for, what the policy says of its calls.

    `kept`: secrets that are masked, too, and that no tool is handed but the one they came with.
    `answer` stands for the final answer, where the turn has a schema for it. `own` answers in the model's place.
    """

    tools: Sequence[Tool[..., Any]] = ()
    _: KW_ONLY
    secrets: Mapping[str, str] | None = field(default=None, repr=False)
    kept: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    principal: Principal = field(default_factory=Principal)
    deps: Any = field(default=None, repr=False)
    policy: RunPolicy = field(default_factory=RunPolicy)
    answer: Tool[..., Any] | None = None
    sandbox: Sandbox | None = None
    own: OwnGrant | None = None
    subagents: Mapping[str, Subagent] = field(default_factory=dict[str, Subagent])
