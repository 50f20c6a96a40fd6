"""The chat request: what a client may send, checked before anything happens."""

from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, field_validator, model_validator

from talaria.core.errors import InvalidRequest
from talaria.core.external import SECRETS
from talaria.core.ids import SESSION_ID
from talaria.core.messages import AssistantMessage, Message, SystemMessage, Text, ToolCall, ToolMessage, UserMessage
from talaria.core.text import valid_text
from talaria.runtime.body import Body
from talaria.runtime.external_request import MOST, AnyExternal

MAX_QUERY = 1024 * 1024
Secret = Annotated[str, Field(max_length=8192)]
Label = Annotated[str, Field(max_length=256)]
_ROLES = {0: "system", 1: "user", 2: "assistant", 3: "tool"}
Identity = Annotated[str, Field(min_length=1, max_length=256)] | Annotated[int, Field(ge=-(2**63), lt=2**63)]
LATER = ("subagents", "mcpConfig")


class HistoryCall(Body):
    """A tool call in a client's own history."""

    id: Annotated[str, Field(max_length=256)]
    name: Annotated[str, Field(max_length=256)]
    arguments: str | dict[str, Any] = "{}"


class HistoryMessage(Body):
    """A message of a client's own history; roles may be given as 0 system, 1 user, 2 assistant, 3 tool."""

    role: Literal[0, 1, 2, 3, "system", "user", "assistant", "tool"]
    content: str | None = ""
    tool_calls: list[HistoryCall] = []
    tool_call_id: str = ""
    name: str = ""


class Attachment(Body):
    """A file that was handed over before, and what it is called in this turn (by default as it was then)."""

    artifact_id: Annotated[str, Field(min_length=1, max_length=128)]
    name: Annotated[str, Field(max_length=1024)] = ""


class NamedUrl(Body):
    """A skill: what it is called, and where it is."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    url: Annotated[str, Field(min_length=1, max_length=8192, repr=False)]


class ChatRequest(Body):
    """POST /ai-api/chat/stream: one turn of one session."""

    query: Annotated[str, Field(min_length=1)]
    model_name: Annotated[str, Field(max_length=256)] = ""
    thinking: Literal["enabled", "disabled"] | None = None
    use_server_memory: bool = True
    session_id: Annotated[str, Field(pattern=f"^(?:{SESSION_ID.pattern})$")] | None = None
    user_id: Identity | None = None
    assistant_id: Identity | None = None
    agent: Annotated[str, Field(max_length=256)] | None = None
    system: Annotated[str, Field(max_length=MAX_QUERY)] = ""
    tools: list[str] | None = None
    external_tools: Annotated[list[AnyExternal], Field(max_length=MOST)] = []
    tool_context: Annotated[dict[str, Secret], Field(max_length=64)] = Field(default={}, repr=False)
    max_tool_iterations: Annotated[int, Field(ge=1)] | None = None
    bypass_approval: bool = False
    history: list[HistoryMessage] = []
    when_busy: Literal["queue", "reject", "interrupt"] = "queue"
    on_disconnect: Literal["continue", "cancel"] = "continue"
    idempotency_key: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    output_schema: dict[str, Any] | None = None
    labels: Annotated[dict[Label, Label], Field(max_length=32)] = {}
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    attachments: Annotated[list[Attachment], Field(max_length=20)] = []
    skills: Annotated[list[NamedUrl], Field(max_length=20)] = []

    @model_validator(mode="before")
    @classmethod
    def _not_yet(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for name in LATER:
                if data.get(name):  # pyright: ignore[reportUnknownMemberType]
                    raise InvalidRequest(
                        f"{name} is not available in this version; leave it out",
                        ({"field": name, "message": "not available in this version; leave it out"},),
                    )
            return {key: value for key, value in data.items() if key not in LATER}  # pyright: ignore[reportUnknownVariableType]
        return data

    @field_validator("query", "system")
    @classmethod
    def _valid(cls, text: str) -> str:
        text = valid_text(text)
        if len(text.encode()) > MAX_QUERY:
            raise ValueError("longer than 1 MiB")
        return text

    @model_validator(mode="after")
    def _history_has_its_place(self) -> "ChatRequest":
        if self.history and self.use_server_memory:
            raise ValueError("history is read only with useServerMemory false; leave one of them out")
        if len({each.name for each in self.skills}) < len(self.skills):
            raise ValueError("skills: two have the same name; leave one of them out")
        names: dict[str, str] = {}
        for name in self.tool_context:
            if name.startswith(SECRETS):
                raise ValueError(f"toolContext: names that begin with '{SECRETS}' are kept for those tools")
            variable = variable_name(name)
            if names.setdefault(variable, name) != name:
                raise ValueError(f"toolContext: '{name}' and '{names[variable]}' are the same variable {variable}")
        return self


def variable_name(name: str) -> str:
    """The environment variable under which a secret is known in sandboxes: apiKey → API_KEY."""
    out: list[str] = []
    for index, char in enumerate(name):
        if char.isupper() and index and (name[index - 1].islower() or name[index - 1].isdigit()):
            out.append("_")
        out.append(char if char.isalnum() and char.isascii() else "_")
    return "".join(out).upper()


def history_messages(history: list[HistoryMessage]) -> tuple[Message, ...]:
    """A client's history as messages, text made valid."""
    return tuple(_message(item) for item in history)


def _message(item: HistoryMessage) -> Message:
    role = _ROLES[item.role] if isinstance(item.role, int) else item.role
    content = valid_text(item.content or "")
    match role:
        case "system":
            return SystemMessage(content)
        case "user":
            return UserMessage((Text(content),))
        case "tool":
            return ToolMessage(item.tool_call_id, item.name, content)
        case _:
            calls = tuple(ToolCall(call.id, call.name, _json_text(call.arguments)) for call in item.tool_calls)
            return AssistantMessage((*((Text(content),) if content else ()), *calls))


def _json_text(arguments: str | dict[str, Any]) -> str:
    return valid_text(arguments) if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
