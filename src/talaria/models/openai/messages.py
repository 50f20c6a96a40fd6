"""Writes messages and tools as chat-completions JSON, each once: a conversation's requests are joins of these bytes."""

from typing import Any, Final, assert_never

import msgspec

from talaria.core.messages import (
    AssistantMessage,
    Image,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.models.openai.call_ids import CallIds
from talaria.models.openai.reasoning import reasoning_members
from talaria.models.past_calls import NOTHING, sent_arguments, sent_name
from talaria.models.plain_schema import schema_for
from talaria.models.shown import as_text, has_picture, parts_of, shown
from talaria.models.thinking import members_of
from talaria.ports.model import Prompt, ToolSpec
from talaria.ports.profile import Profile

UNANSWERED: Final = "(no answer)"
_encode = msgspec.json.Encoder().encode


class EncodedPrompt:
    """A prompt's messages as one growing JSON array body, and its tools."""

    __slots__ = ("_count", "_ids", "_issuer", "_last", "_profile", "messages", "tools")

    def __init__(self, prompt: Prompt, issuer: str, profile: Profile) -> None:
        self._issuer = issuer
        self._profile = profile
        self._ids = CallIds(profile.call_id_length)
        self._count = 0
        self._last = ""
        self.messages = bytearray()
        self.tools = _encode([_tool(tool, profile) for tool in prompt.tools]) if prompt.tools else b""
        if prompt.system:
            self._add({"role": profile.system_role, "content": prompt.system})

    def catch_up(self, prompt: Prompt) -> None:
        """Encode the messages that are new since the last time."""
        for message in prompt.messages[self._count :]:
            written = self._message(message)
            if written is not None:
                self._add(written)
        self._count = len(prompt.messages)

    def _add(self, message: dict[str, Any]) -> None:
        if self._last == "tool" and message["role"] == "user" and not self._profile.user_after_tool:
            self.messages += b"," + _encode({"role": "assistant", "content": UNANSWERED})
        self._last = message["role"]
        if self.messages:
            self.messages += b","
        self.messages += _encode(message)

    def _message(self, message: Message) -> dict[str, Any] | None:
        match message:
            case SystemMessage():
                return {"role": self._profile.system_role, "content": message.text} if message.text else None
            case UserMessage():
                content = _user(message, self._profile)
                return {"role": "user", "content": content} if content else None
            case AssistantMessage():
                return self._assistant(message)
            case ToolMessage():
                text = message.text if message.text or self._profile.empty_content != "omit" else NOTHING
                return {"role": "tool", "tool_call_id": self._ids.of(message.call_id), "content": text}
            case _:
                assert_never(message)

    def _assistant(self, message: AssistantMessage) -> dict[str, Any] | None:
        calls, text = message.calls, message.text
        if not calls and not text:
            return None
        written: dict[str, Any] = {"role": "assistant"}
        if text or self._profile.empty_content != "omit":
            written["content"] = text or (None if self._profile.empty_content == "null" else "")
        written |= reasoning_members(message, self._issuer, self._profile)
        if calls:
            self._ids.learn(calls)
            written["tool_calls"] = self._calls(calls)
        return written

    def _calls(self, calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
        payloads: list[dict[str, Any]] = [(call.payload or {}).get(self._issuer) or {} for call in calls]
        if not any(payloads):
            payloads[0] = members_of(self._profile.unsigned_call)
        return [self._call(call, payload) for call, payload in zip(calls, payloads, strict=True)]

    def _call(self, call: ToolCall, payload: dict[str, Any]) -> dict[str, Any]:
        function = {"name": sent_name(call.name), "arguments": sent_arguments(call.arguments)}
        return {**payload, "id": self._ids.of(call.id), "type": "function", "function": function}


def _tool(tool: ToolSpec, profile: Profile) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name, "description": tool.description}
    parameters = schema_for(profile, tool.parameters)
    if profile.schemas == "any" or parameters.get("properties"):  # an object without fields is no plain schema
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def _user(message: UserMessage, profile: Profile) -> str | list[dict[str, Any]]:
    if not profile.vision or not has_picture(message):
        return as_text(message)
    written: list[dict[str, Any]] = []
    for part in parts_of(message):
        if isinstance(part, Image) and part.data:
            url = f"data:{part.media_type};base64,{part.data}"
            written.append({"type": "image_url", "image_url": {"url": url}})
        elif text := shown(part):
            written.append({"type": "text", "text": text})
    return written
