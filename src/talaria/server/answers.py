"""What the JSON endpoints answer, for the OpenAPI document. Tests hold the real answers against these models."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Answer(BaseModel):
    """An answer. An absent optional field is left out, never null; clients ignore fields that they do not know."""

    model_config = ConfigDict(alias_generator=to_camel)


class ToolCallView(Answer):
    """A tool call. `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


class ApprovalView(Answer):
    """An open question. Times are ISO 8601, UTC. `question` is there where an answer is asked for, and not consent."""

    request_id: str
    run_id: str
    session_id: str
    user_id: str
    tool_calls: list[ToolCallView]
    reason: str
    created_at: str
    expires_at: str
    question: str = ""
    choices: list[str] = []


class ApprovalList(Answer):
    """The open questions that this principal may decide."""

    approvals: list[ApprovalView]


class DecisionInForce(Answer):
    """The decision in force for a question."""

    request_id: str
    decision: Literal["approved", "edited", "answered", "declined", "expired", "cancelled", "superseded"]
    decided_at: str
    by: str = ""
    arguments: dict[str, Any] = {}
    comment: str = ""
    answer: str = ""
    is_error: bool = False


class RunView(Answer):
    """How a run stands. `reason` is a finish reason or an error code."""

    run_id: str
    session_id: str
    status: Literal["queued", "running", "waiting_approval", "finished"]
    agent: str = ""
    model_name: str = ""
    started_at: str = ""
    finished_at: str = ""
    reason: str = ""
    approvals: list[ApprovalView] = []


class Cancelling(Answer):
    """A run that has been asked to end, or had ended before."""

    run_id: str
    status: Literal["cancelling", "finished"]


class FileView(Answer):
    """A file that is kept: `size` in bytes, `url` a path of this server."""

    artifact_id: str
    name: str
    mime_type: str
    size: int
    url: str
    expires_at: str = ""


class SessionSummary(Answer):
    """A session in a listing."""

    session_id: str
    user_id: str
    assistant_id: str = ""
    title: str
    turns: int
    created_at: str
    updated_at: str


class SessionPage(Answer):
    """A page of sessions, newest first. `next` is the cursor of the page after it."""

    sessions: list[SessionSummary]
    next: str = ""


class AttachmentView(Answer):
    """A file that came with a message; it may have expired since."""

    artifact_id: str
    name: str
    mime_type: str


class MessageView(Answer):
    """A message of a session. `incomplete`: the model was cut off."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    reasoning: str = ""
    tool_calls: list[ToolCallView] = []
    tool_call_id: str = ""
    name: str = ""
    is_error: bool = False
    incomplete: bool = False
    attachments: list[AttachmentView] = []


class SessionView(SessionSummary):
    """A session with its messages and open questions."""

    messages: list[MessageView]
    active_run: str = ""
    approvals: list[ApprovalView] = []


class MemoryFile(Answer):
    """A file of a memory. `untrusted`: it was written after content from outside had been read."""

    path: str
    text: str
    updated_at: str
    untrusted: bool = False


class MemoryView(Answer):
    """What an assistant remembers of a user."""

    user_id: str
    assistant_id: str = ""
    updated_at: str
    files: list[MemoryFile]


class MemoryPage(Answer):
    """A page of memories, the last changed one first. `next` is the cursor of the page after it."""

    memories: list[MemoryView]
    next: str = ""


class ModelView(Answer):
    """A model that the configuration names."""

    name: str


class ModelList(Answer):
    """The named models. Any name that begins with one of `prefixes` may be asked for, too."""

    models: list[ModelView]
    prefixes: list[str]
    default: str = ""


class ToolView(Answer):
    """A tool. `approval`: a person may be asked before a call runs."""

    name: str
    description: str
    group: str = ""
    approval: bool = False


class ToolList(Answer):
    """The tools that this principal may call."""

    tools: list[ToolView]


class AgentView(Answer):
    """An agent, and the model it has of its own."""

    name: str
    model_name: str = ""


class AgentList(Answer):
    """The agents, the default one first."""

    agents: list[AgentView]


class AuditEntry(Answer):
    """A decision. `userId` is whom it concerns, `by` the person who decided, where one did."""

    action: str
    outcome: str
    at: str
    user_id: str = ""
    subject: str = ""
    rule: str = ""
    by: str = ""
    detail: str = ""
    session_id: str = ""
    run_id: str = ""
    tool_call_id: str = ""


class AuditPage(Answer):
    """A page of decisions, newest first. `next` is the cursor of the page after it."""

    entries: list[AuditEntry]
    next: str = ""


class UsageSum(Answer):
    """What was used together. `group` has what was grouped by; null where a label is not set.

    `runs`: those that ended. `estimated_share`: of the tokens, those that no provider counted. `cost` by currency.
    """

    group: dict[str, str | None]
    requests: int
    runs: int
    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost: dict[str, float]
    estimated_share: float


class UsageList(Answer):
    """What was used in the days from `from` to `to`, both included, in the server's time zone."""

    first: str = Field(alias="from")
    last: str = Field(alias="to")
    usage: list[UsageSum]


class PreviewLink(Answer):
    """A link that shows a web server in a sandbox, to whoever has it. `expiresAt` is ISO 8601, UTC."""

    url: str
    expires_at: str


class Health(Answer):
    """How the server is. `degraded`: parts that it has to do without; its log says why."""

    status: Literal["ok", "ready"]
    degraded: list[Literal["sandbox"]] = []


class FieldError(Answer):
    """What is wrong with one field; its path is written like `history[0].role`."""

    field: str
    message: str


class Problem(Answer):
    """A problem document (RFC 9457). A conflict also carries what is in force, such as `runId` or `decision`."""

    type: str = Field(json_schema_extra={"format": "uri-reference"})
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldError] = []
    quota: str = ""
    remaining: float = 0
