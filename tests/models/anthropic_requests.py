"""Requests of the Messages dialect, for its tests."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from talaria.core.messages import (
    AssistantMessage,
    File,
    Image,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.models.anthropic.dialect import AnthropicDialect
from talaria.models.families import Profiles
from talaria.models.negotiation import negotiate
from talaria.ports.model import Connection, HttpCall, ModelRequest, Prompt, ToolSpec

SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"q": {"type": "integer"}}})
GO = UserMessage((Text("go"),))
SIGNED = Reasoning("Hm.", "test", {"type": "thinking", "signature": "SIG"})
HIDDEN = Reasoning("", "test", {"type": "thinking", "signature": "SIG2"})
REDACTED = Reasoning("", "test", {"type": "redacted_thinking", "data": "OPAQUE"})
CALL = ToolCall("run-1", "search", '{"q":1}', "toolu_1", {"test": {"caller": {"type": "direct"}}})
OTHER = ToolCall("run-2", "search", '{"q":2}', "toolu_2")
HISTORY: list[Message] = [
    GO,
    AssistantMessage((SIGNED, Text("Looking."), CALL, REDACTED, OTHER)),
    ToolMessage("run-1", "search", "r"),
    ToolMessage("run-2", "search", "", is_error=True),
    UserMessage((Text("and?"), Image("image/png", "QUJD"), File("a.txt", text="inside"))),
    AssistantMessage((HIDDEN, Text("Done."))),
    UserMessage((Text("more"),)),
]
SCHEMA = {"type": "object", "properties": {"total": {"type": "number", "minimum": 0}}, "required": ["total"]}


def to(model: str = "some", issuer: str = "test", route: dict[str, Any] | None = None, **profile: Any) -> Connection:
    known = Profiles("anthropic", thinking=route).of(model)
    known = msgspec.structs.replace(known, **profile)
    return Connection("https://api.example.com/", model, issuer, "key-123", profile=known)


def call(request: ModelRequest, connection: Connection) -> HttpCall:
    asked, _ = negotiate(request, connection.profile)
    return AnthropicDialect().request(asked, connection)


def body(request: ModelRequest, connection: Connection | None = None) -> dict[str, Any]:
    return json.loads(call(request, connection or to()).body)


def messages(history: Sequence[Message], connection: Connection | None = None) -> list[dict[str, Any]]:
    """The messages that are sent, without marks for the cache."""
    return unmarked(body(ModelRequest("some", Prompt("", (), history)), connection)["messages"])


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}  # pyright: ignore[reportUnknownVariableType]
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def _request(**wanted: Any) -> ModelRequest:
    return ModelRequest("some", Prompt("Be brief.", [SEARCH], list(HISTORY)), **wanted)


def _thinking(model: str, thinking: str) -> dict[str, Any]:
    return body(_request(thinking=thinking, output_schema=SCHEMA), to(model))


BODIES: dict[str, Callable[[], dict[str, Any]]] = {
    "plain": lambda: body(ModelRequest("some", Prompt("", (), [GO]))),
    "everything": lambda: body(_request(thinking="enabled", temperature=0.2, max_tokens=100, output_schema=SCHEMA)),
    "forced": lambda: body(_request(tool_choice="required"), to(parallel_tools=False)),
    "without_tools": lambda: body(_request(tool_choice="none")),
    **{
        f"{model}-{thinking}": partial(_thinking, model, thinking)
        for model in ("claude-opus-5-5", "claude-opus-5", "claude-sonnet-4-6", "claude-haiku-4-5")
        for thinking in ("enabled", "disabled")
    },
}
