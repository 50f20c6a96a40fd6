"""The state of a session: what the fold of its entries knows. One mutable object per open session."""

import math
from typing import Any, Literal

import msgspec

from talaria.core.events import START, Position
from talaria.core.ids import SessionKey
from talaria.core.messages import AssistantMessage, ToolCall, ToolMessage
from talaria.core.usage import Usage
from talaria.journal.entries import (
    AgentSaid,
    AnswerAccepted,
    AnswerRejected,
    ApprovalRequested,
    ApprovalResolved,
    Audited,
    CancelRequested,
    ModelFinished,
    PlanSet,
    RunFinished,
    StepFinished,
    StopRaised,
    TaskStarted,
    TurnStarted,
)
from talaria.journal.spending import Spending
from talaria.ports.model import Prompt

TITLE = 80
"""Characters of a title."""

CallStatus = Literal["decided", "asked", "resolved", "started", "finished"]


class CallState(msgspec.Struct, gc=False):
    """One tool call of the current round.

    `call` holds the model's arguments, `arguments` what runs (an approver may have edited them).
    `held`: a call with side effects before it waits for a person, so it waits too; `waits_on`: the subagent's task that
    it waits for, which waits for a person (both known only to this process).
    `agreed`: the consent that it had before the caller was asked to run it.
    `ordinal` counts the run's calls from 1, `nth` those of the same tool.
    """

    call: ToolCall
    arguments: str
    ordinal: int
    nth: int
    status: CallStatus = "decided"
    asked: ApprovalRequested | None = None
    resolved: ApprovalResolved | None = None
    agreed: ApprovalResolved | None = None
    result: ToolMessage | None = None
    was_started: bool = False
    held: bool = False
    waits_on: str = ""
    is_invalid: bool = False
    untrusted: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the call still needs its answer."""
        return self.result is None


class RunState(msgspec.Struct, gc=False):
    """The current (or last) run of the session. `anchor` is where the last event stands that its entries made.

    `before_text`: where the event stands that came before the text of `last`. `rejected` is the verdict on `last`.
    `invalid_rounds`: how many of the last rounds, without a gap, had invalid calls only. `tasks`: the subagents' tasks
    of the whole run, by id, each a state of its own, whose run has `task` and no tasks (theirs are here, too); ids and
    counts of calls, and what is spent, are one for all.
    """

    turn: TurnStarted
    first_seq: int
    anchor: Position
    running_since: int | None
    spending: Spending
    ran_ms: int = 0
    rounds: int = 0
    message: AssistantMessage | None = None
    calls: dict[str, CallState] = {}
    call_ids: set[str] = set()
    per_tool: dict[str, int] = {}
    usage: Usage = Usage()
    steps: dict[int, StepFinished] = {}
    said: list[AgentSaid] = []
    decisions: dict[str, ApprovalResolved] = {}
    last: ModelFinished | None = None
    before_text: Position = START
    answer: AnswerAccepted | None = None
    rejected: AnswerRejected | None = None
    rejections: int = 0
    empty_answers: int = 0
    downgraded: frozenset[str] = frozenset()
    invalid_rounds: int = 0
    over_limit_round: int = 0
    parked_until: int | None = None
    cancel: CancelRequested | None = None
    stopped: StopRaised | None = None
    over_quota: Audited | None = None
    finished: RunFinished | None = None
    task: TaskStarted | None = None
    tasks: "dict[str, SessionState]" = {}

    @property
    def call_count(self) -> int:
        """How many calls there were, those of subagents included."""
        return sum(self.per_tool.values())

    @property
    def id(self) -> str:
        """The run's id."""
        return self.turn.run

    def ran(self, now: int) -> float:
        """Seconds this run has been running, parked time not counted."""
        since = 0 if self.running_since is None else max(0, now - self.running_since)
        return (self.ran_ms + since) / 1000

    @property
    def answers_by(self) -> str:
        """The tool that takes the final answer, or an empty string."""
        return self.turn.output.tool if self.turn.output is not None else ""

    def is_answer(self, call: ToolCall) -> bool:
        """Whether a call gives the final answer instead of running a tool."""
        return bool(self.answers_by) and call.name == self.answers_by

    @property
    def ends_at(self) -> int:
        """When the time of this run is up, should it go on running, in ms."""
        return (self.running_since or 0) + math.ceil(self.turn.limits.run_timeout * 1000) - self.ran_ms

    def open_calls(self) -> list[CallState]:
        """The calls without an answer, in the model's order."""
        return [call for call in self.calls.values() if call.result is None]


class SessionState:
    """What is known of a session after entry `seq`."""

    __slots__ = (
        "approvals",
        "created",
        "first_words",
        "key",
        "last_at",
        "memory_index",
        "path",
        "plan",
        "prompt",
        "remembered",
        "run",
        "scope",
        "seq",
        "since",
        "turns",
        "untrusted",
        "variables",
        "wholes",
    )

    def __init__(self, key: SessionKey) -> None:
        self.key = key
        self.path = key.path
        self.scope = key.scope
        self.seq = 0
        self.prompt = Prompt()
        self.run: RunState | None = None
        self.last_at = 0
        self.memory_index = ""  # see ContextSet; it is read anew when the session begins anew
        self.begin()

    def begin(self) -> None:
        """Forget all that was said so far. `since` is the seq after which the session counts."""
        self.since = self.seq
        self.prompt = Prompt(self.prompt.system, self.prompt.tools)
        self.approvals: dict[str, ApprovalRequested] = {}
        self.remembered: dict[str, ApprovalResolved] = {}  # tools that somebody agreed to, with how they did
        self.wholes: dict[str, str] = {}  # blobs of results that were shortened, by call
        self.first_words = ""  # of the session's first message, on one line
        self.untrusted = False  # whether content of outside origin is in the messages
        self.plan: PlanSet | None = None  # as it was last changed
        self.turns = 0
        self.created = 0
        self.variables: dict[str, Any] = {}  # replaced, never changed: threads read it

    @property
    def title(self) -> str:
        """What a listing calls the session."""
        words = self.first_words
        return words if len(words) <= TITLE else words[: TITLE - 1] + "…"

    @property
    def task(self) -> str:
        """The subagent's task whose state this is; empty for the session's own."""
        return self.run.turn.task if self.run is not None else ""

    @property
    def threads(self) -> "list[SessionState]":
        """This state, and those of the subagents' tasks."""
        return [self, *(self.run.tasks.values() if self.run is not None else ())]

    @property
    def active(self) -> RunState | None:
        """The run that has not finished, if there is one."""
        return self.run if self.run is not None and self.run.finished is None else None


def with_variable(variables: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return the variables with one of them set, or removed where `value` is None."""
    if value is None:
        return {key: each for key, each in variables.items() if key != name}
    return {**variables, name: value}
