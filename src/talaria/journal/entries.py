"""Everything that can happen to a session, in the past tense. What is written once must load for ever.

Each entry's tag carries its version (`tool_finished.1`). A changed shape gets a new version and an upgrade in codec.py;
golden files of every version are kept by the tests. `at` is milliseconds since 1970; order is seq, never time.
`task` is empty for the main thread, else the subagent thread that the entry belongs to.
"""

from typing import Any, Literal

import msgspec

from talaria.core.events import START, Position
from talaria.core.external import ExternalTool
from talaria.core.messages import AssistantMessage, Image, Message, UserMessage
from talaria.core.plan import Plan
from talaria.core.skills import Skill
from talaria.core.subagents import Subagent
from talaria.core.usage import Usage
from talaria.journal.turn import OutputSpec, RunLimits, TurnOptions
from talaria.ports.model import Finish, ToolSpec


class Entry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, kw_only=True, tag_field="type"):
    """What every entry carries."""

    run: str
    at: int
    task: str = ""


class TurnStarted(Entry, frozen=True, gc=False, tag="turn_started.1"):
    """A request became a run of this session. `secrets` names the secrets it came with, never their values.

    `bypass`: nobody is asked about its calls. `subagents`, `skills`, `external` (tools): those that it brought.
    """

    agent: str
    model: str
    message: UserMessage
    limits: RunLimits = RunLimits()
    options: TurnOptions = TurnOptions()
    history: tuple[Message, ...] = ()
    roles: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    tools: tuple[str, ...] | None = None
    system: str = ""
    detached: bool = True
    output: OutputSpec | None = None
    bypass: bool = False
    subagents: tuple[Subagent, ...] = ()
    skills: tuple[Skill, ...] = ()
    external: tuple[ExternalTool, ...] = ()


class SessionExpired(Entry, frozen=True, gc=False, tag="session_expired.1"):
    """What was said before is over: the turn that follows begins the session anew."""


class ContextSet(Entry, frozen=True, gc=False, tag="context_set.1"):
    """The system prompt or the tools that the model sees are new from here on.

    `memory`: what a prompt with the memory tool says of the user's memories in this session, as they were at its begin.
    """

    system: str
    tools: tuple[ToolSpec, ...] = ()
    memory: str = ""


class ModelFinished(Entry, frozen=True, gc=False, tag="model_finished.1"):
    """A model call ended. `epoch` and `attempt` are those of its streamed text.

    `attempt` is 0 for an agent of one's own, whose every word had an entry before (`AgentSaid`).
    An incomplete message (cancel, time-out, broken stream) has no calls; `error` is then the code, if it was an error,
    and `error_text` a sentence for a person. `downgraded`: what the model was asked for and does not take, a sentence
    each, the first time in a run. `reasoning_refused`: its provider did not take earlier reasoning back. `since`: the
    seq after which the message was said, where that is not the one before its own; see `base`. `by_client`: ids of the
    calls that the caller runs, which it is told of one by one (`ApprovalRequested`).
    """

    round: int
    epoch: int
    attempt: int
    message: AssistantMessage
    finish: Finish = "stop"
    usage: Usage = Usage()
    duration_ms: int = 0
    cut_calls: int = 0
    error: str = ""
    error_text: str = ""
    downgraded: tuple[str, ...] = ()
    reasoning_refused: bool = False
    since: int = 0
    by_client: tuple[str, ...] = ()


class StepFinished(Entry, frozen=True, gc=False, tag="step_finished.1"):
    """A model answered an agent of one's own, aside from the conversation. `step` counts what the run asked, from 1.

    `downgraded`: as in ModelFinished.
    """

    step: int
    message: AssistantMessage
    usage: Usage = Usage()
    downgraded: tuple[str, ...] = ()


class AgentSaid(Entry, frozen=True, gc=False, tag="agent_said.1"):
    """An agent of one's own said a piece of its answer, or of its reasoning, or something aside (`custom`, a name).

    `data` is text, and any JSON value in `custom`.
    """

    kind: Literal["token", "reasoning", "custom"]
    data: Any = None
    name: str = ""


class ToolStarted(Entry, frozen=True, gc=False, tag="tool_started.1"):
    """A call is about to run: durable before it does. `repairs` says what of the model's arguments had to be mended."""

    call_id: str
    name: str
    round: int = 0
    repairs: tuple[str, ...] = ()


Outcome = Literal["ok", "error", "invalid", "refused", "cancelled", "unknown"]
"""`invalid`: there is no such tool, or the arguments are wrong; `refused`: not run for another reason."""


class ToolFinished(Entry, frozen=True, gc=False, tag="tool_finished.1"):
    """A call has its answer. `text` is what the model gets; `blob` the whole result where that was trimmed.

    `untrusted`: content of outside origin is in it. `images`: pictures that a model gets if it sees any.
    """

    call_id: str
    name: str
    text: str
    outcome: Outcome = "ok"
    duration_ms: int = 0
    truncated: bool = False
    blob: str = ""
    untrusted: bool = False
    images: tuple[Image, ...] = ()


class Emitted(Entry, frozen=True, gc=False, tag="emitted.1"):
    """A tool said something to the client while it ran. `data` is a JSON value."""

    call_id: str
    name: str
    data: Any = None


class ToolOutput(Entry, frozen=True, gc=False, tag="tool_output.1"):
    """A piece of the text that a call gives while it runs; the model does not get it."""

    call_id: str
    text: str


class ArtifactSaved(Entry, frozen=True, gc=False, tag="artifact_saved.1"):
    """A call handed a file to the user. `size` in bytes; the bytes themselves are elsewhere."""

    call_id: str
    artifact_id: str
    name: str
    media_type: str
    size: int
    url: str


class PlanSet(Entry, frozen=True, gc=False, tag="plan_set.1"):
    """A call changed the plan of its thread."""

    call_id: str
    plan: Plan = ()


class StopRaised(Entry, frozen=True, gc=False, tag="stop_raised.1"):
    """A tool ended the run."""

    call_id: str
    message: str


Resolution = Literal["approved", "edited", "answered", "declined", "expired", "cancelled", "superseded"]


class ApprovalRequested(Entry, frozen=True, gc=False, tag="approval_requested.1"):
    """A call waits for a person. `arguments` is the JSON text that would run; `expires_at` in ms.

    `reason` says why it is asked (`declared`, `configured`, `policy`, `untrusted`, `outcome_unknown`), or that it is a
    `question` to the user, or that the caller runs the call (`client`).
    """

    request_id: str
    call_id: str
    name: str
    arguments: str
    expires_at: int
    reason: str = "declared"
    round: int = 0


class ApprovalResolved(Entry, frozen=True, gc=False, tag="approval_resolved.1"):
    """The question has its answer; anything but approved, edited or answered (with `answer`) is a refusal.

    `role`: that by which `by` was an approver; empty where the run's own user decided. `via`: a `link` that was sent.
    `is_error`: the answer is the result of a call that failed where the caller ran it.
    """

    request_id: str
    call_id: str
    outcome: Resolution
    by: str = ""
    arguments: str = ""
    comment: str = ""
    remember: bool = False
    via: str = ""
    answer: str = ""
    role: str = ""
    is_error: bool = False


class AnswerRejected(Entry, frozen=True, gc=False, tag="answer_rejected.1"):
    """A final answer did not fit the turn's schema: `problem` says why, `feedback` is what the model is told.

    `rewind` is where clients go back to, so that they drop the answer's text; `call_id` the call that gave the answer.
    One of the two is set: what is given in a call was never said.
    """

    round: int
    problem: str
    feedback: str
    rewind: Position = START
    call_id: str = ""


class AnswerAccepted(Entry, frozen=True, gc=False, tag="answer_accepted.1"):
    """A final answer fits the turn's schema. `text` is the answer: JSON.

    Where it is not the text that the model said, clients get it with this entry: instead of that text, after `rewind`
    (`repairs` says what was mended), or for the first time, out of the call `call_id`.
    """

    round: int
    text: str
    rewind: Position = START
    call_id: str = ""
    repairs: tuple[str, ...] = ()


class VariableSet(Entry, frozen=True, gc=False, tag="variable_set.1"):
    """A tool set a variable of the session; None removes it."""

    name: str
    value: Any = None


class RunParked(Entry, frozen=True, gc=False, tag="run_parked.1"):
    """Nothing to do but wait, until `until` (ms) or a letter."""

    until: int


class RunResumed(Entry, frozen=True, gc=False, tag="run_resumed.1"):
    """Back at work: `woken` from parking, or `recovered` after its owner died."""

    why: Literal["woken", "recovered"]


class CancelRequested(Entry, frozen=True, gc=False, tag="cancel_requested.1"):
    """Somebody wants the run to end: `cancelled`, or `superseded` by a newer message while it waited for a person."""

    why: Literal["cancelled", "superseded"] = "cancelled"
    by: str = ""


FinishReason = Literal[
    "stop", "length", "content_filter", "toolCallLimitExceeded", "maxRounds", "timeout", "quotaExceeded", "cancelled"
]


class TaskStarted(Entry, frozen=True, gc=False, tag="task_started.1"):
    """A subagent took on a task; `task` is its thread: its name, a colon, and the call `call_id` that gave the task.

    What it does from here on is in entries of that thread. `parent` is the thread that called. `background`: the call
    does not wait for it.
    """

    call_id: str
    prompt: str
    model: str
    system: str
    tools: tuple[ToolSpec, ...] = ()
    limits: RunLimits = RunLimits()
    description: str = ""
    parent: str = ""
    depth: int = 1
    background: bool = False


class TaskFinished(Entry, frozen=True, gc=False, tag="task_finished.1"):
    """A subagent's task is over: `reason`, or an `error` code with a sentence. `usage` sums its own model calls."""

    reason: FinishReason | Literal["error"]
    usage: Usage = Usage()
    error: str = ""
    message: str = ""


class Audited(Entry, frozen=True, gc=False, tag="audited.1"):
    """A decision of the harness that somebody may have to account for.

    `action` is what was decided about, in dots (`tool.permission`, `hitl.bypassed`); `outcome` what was decided.
    `subject` is the tool, agent or quota; `rule` what decided; `by` the person, where one did; `detail` a sentence.
    """

    action: str
    outcome: str
    subject: str = ""
    call_id: str = ""
    rule: str = ""
    by: str = ""
    detail: str = ""


class RunFinished(Entry, frozen=True, gc=False, tag="run_finished.1"):
    """The run is over: `reason`, or an `error` code with a sentence for a person. `usage` sums its model calls.

    `answer` is the final answer, of a turn that has a schema for it, and a valid one.
    """

    reason: FinishReason | Literal["error"]
    usage: Usage = Usage()
    error: str = ""
    message: str = ""
    answer: str = ""


class Oversize(msgspec.Struct, frozen=True, gc=False, tag="oversize.1", tag_field="type"):
    """Stands for an entry that is kept as a blob."""

    ref: str


AnyEntry = (
    TurnStarted
    | SessionExpired
    | ContextSet
    | ModelFinished
    | StepFinished
    | AgentSaid
    | ToolStarted
    | Emitted
    | ToolOutput
    | ToolFinished
    | ArtifactSaved
    | PlanSet
    | StopRaised
    | ApprovalRequested
    | ApprovalResolved
    | AnswerRejected
    | AnswerAccepted
    | VariableSet
    | RunParked
    | RunResumed
    | CancelRequested
    | Audited
    | TaskStarted
    | TaskFinished
    | RunFinished
)
