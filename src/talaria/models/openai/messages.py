"""Writes messages and tools as chat-completions JSON, each once: a conversation's requests are joins of these bytes.

A result of a call is text here. Its pictures follow in a message of the user's, behind all results of the round.
"""

from typing import Any, Final, assert_never

import msgspec

from talaria.core.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.models.openai.reasoning import reasoning_members
from talaria.models.plain_schema import schema_for
from talaria.models.sent_calls import NOTHING, CallIds, sent_arguments, sent_name
from talaria.models.shown import content_of, data_url, result_as_text
from talaria.models.thinking import members_of
from talaria.ports.model import Prompt, ToolSpec
from talaria.ports.profile import Profile

LONGEST_ID: Final = 40
UNANSWERED: Final = "(no answer)"
PICTURES: Final = "The pictures that the tools returned, in their order:"
_encode = msgspec.json.Encoder().encode


class EncodedPrompt:
    """A prompt's messages as one growing JSON array body, and its tools."""

    __slots__ = ("_count", "_ids", "_issuer", "_last", "_pictures", "_profile", "_written", "tools")

    def __init__(self, prompt: Prompt, issuer: str, profile: Profile) -> None:
        self._issuer = issuer
        self._profile = profile
        self._ids = CallIds(LONGEST_ID, exact=profile.call_id_length)
        self._count = 0
        self._last = ""
        self._written = bytearray()
        self._pictures: list[Any] = []
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

    @property
    def messages(self) -> bytes | bytearray:
        """What stands between the brackets of the array of messages."""
        shown = self._shown()
        return self._written + b"," + b",".join(map(_encode, shown)) if shown else self._written

    def _shown(self) -> list[dict[str, Any]]:
        """The message with the pictures of the results that were written last; more results may come before it."""
        if not self._pictures:
            return []
        shown = {"role": "user", "content": [_text(PICTURES), *self._pictures]}
        return [shown] if self._profile.user_after_tool else [{"role": "assistant", "content": UNANSWERED}, shown]

    def _add(self, message: dict[str, Any]) -> None:
        if self._pictures and message["role"] != "tool":
            self._written = bytearray(self.messages)
            self._pictures, self._last = [], "user"
        if self._last == "tool" and message["role"] == "user" and not self._profile.user_after_tool:
            self._written += b"," + _encode({"role": "assistant", "content": UNANSWERED})
        self._last = message["role"]
        if self._written:
            self._written += b","
        self._written += _encode(message)

    def _message(self, message: Message) -> dict[str, Any] | None:
        match message:
            case SystemMessage():
                return {"role": self._profile.system_role, "content": message.text} if message.text else None
            case UserMessage():
                content = content_of(message, vision=self._profile.vision, text=_text, picture=_picture)
                return {"role": "user", "content": content} if content else None
            case AssistantMessage():
                return self._assistant(message)
            case ToolMessage():
                return self._result(message)
            case _:
                assert_never(message)

    def _result(self, message: ToolMessage) -> dict[str, Any]:
        text = message.text
        if self._profile.vision:
            self._pictures += [_picture(data_url(image)) for image in message.images]
        else:
            text = result_as_text(message)
        text = text if text or self._profile.empty_content != "omit" else NOTHING
        return {"role": "tool", "tool_call_id": self._ids.of(message.call_id), "content": text}

    def _assistant(self, message: AssistantMessage) -> dict[str, Any] | None:
        calls, text = message.calls, message.text
        if not calls and not text:
            return None
        written: dict[str, Any] = {"role": "assistant"}
        if text or self._profile.empty_content != "omit":
            written["content"] = text or (None if self._profile.empty_content == "null" else "")
        written |= reasoning_members(message, self._issuer, self._profile)
        if calls:
            written["tool_calls"] = self._calls(calls)
        return written

    def _calls(self, calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
        payloads: list[dict[str, Any]] = [(call.payload or {}).get(self._issuer) or {} for call in calls]
        if not any(payloads):
            payloads[0] = members_of(self._profile.unsigned_call)
        return [self._call(call, payload) for call, payload in zip(calls, payloads, strict=True)]

    def _call(self, call: ToolCall, payload: dict[str, Any]) -> dict[str, Any]:
        function = {"name": sent_name(call.name), "arguments": sent_arguments(call.arguments)}
        return {**payload, "id": self._ids.name(call), "type": "function", "function": function}


def _tool(tool: ToolSpec, profile: Profile) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name, "description": tool.description}
    parameters = schema_for(profile, tool.parameters)
    if profile.schemas == "any" or parameters.get("properties"):  # an object without fields is no plain schema
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}
