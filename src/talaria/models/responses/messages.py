"""Writes messages and tools as Responses input, each once: a conversation's requests are joins of these bytes."""

from typing import Any, assert_never

import msgspec

from talaria.core.messages import (
    AssistantMessage,
    Message,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from talaria.models.plain_schema import schema_for
from talaria.models.sent_calls import NOTHING, CallIds, sent_arguments, sent_name
from talaria.models.shown import content_of, data_url, result_as_text
from talaria.ports.model import Prompt, ToolSpec
from talaria.ports.profile import Profile

_encode = msgspec.json.Encoder().encode
LONGEST_ID = 64
_ITS_PLACE = frozenset(("id", "status"))


class EncodedInput:
    """A prompt's messages as one growing JSON array body, its tools and its instructions."""

    __slots__ = ("_count", "_ids", "_issuer", "_profile", "instructions", "items", "tools")

    def __init__(self, prompt: Prompt, issuer: str, profile: Profile) -> None:
        self._issuer = issuer
        self._profile = profile
        self._ids = CallIds(LONGEST_ID, exact=profile.call_id_length)
        self._count = 0
        self.items = bytearray()
        self.tools = _encode([_tool(tool, profile) for tool in prompt.tools]) if prompt.tools else b""
        self.instructions = _encode(prompt.system) if prompt.system else b""

    def catch_up(self, prompt: Prompt) -> None:
        """Encode the messages that are new since the last time."""
        for message in prompt.messages[self._count :]:
            for item in self._message(message):
                if self.items:
                    self.items += b","
                self.items += _encode(item)
        self._count = len(prompt.messages)

    def _message(self, message: Message) -> list[dict[str, Any]]:
        match message:
            case SystemMessage():
                return [{"role": self._profile.system_role, "content": message.text}] if message.text else []
            case UserMessage():
                content = content_of(message, vision=self._profile.vision, text=_text, picture=_picture)
                return [{"role": "user", "content": content}] if content else []
            case AssistantMessage():
                return self._assistant(message)
            case ToolMessage():
                call_id = self._ids.of(message.call_id)
                return [{"type": "function_call_output", "call_id": call_id, "output": self._output(message)}]
            case _:
                assert_never(message)

    def _output(self, message: ToolMessage) -> str | list[dict[str, Any]]:
        """A result: text, or parts where there are pictures that the model sees."""
        if message.images and self._profile.vision:
            return [_text(message.text or NOTHING), *(_picture(data_url(image)) for image in message.images)]
        return result_as_text(message) or (NOTHING if self._profile.empty_content == "omit" else "")

    def _assistant(self, message: AssistantMessage) -> list[dict[str, Any]]:
        """The items of an answer, in their order.

        What follows reasoning goes back with the id that binds it to that reasoning, and without it when the reasoning
        does not go back; reasoning that nothing follows does not go back
        (https://developers.openai.com/api/docs/guides/reasoning).
        """
        parts = list(message.parts)
        while parts and isinstance(parts[-1], Reasoning):
            parts.pop()
        thoughts = {at: item for at, part in enumerate(parts) if (item := self._reasoning(part, message))}
        items: list[dict[str, Any]] = []
        for at, part in enumerate(parts):
            match part:
                case Reasoning():
                    items += [thoughts[at]] if at in thoughts else []
                case Text():
                    items += [_said(part.text, self._own(part, bound=bool(thoughts)))] if part.text else []
                case ToolCall():
                    items.append(self._call(part, bound=bool(thoughts)))
                case _:
                    assert_never(part)
        return items

    def _reasoning(self, part: object, message: AssistantMessage) -> dict[str, Any] | None:
        """The item as it came. One that is not encrypted is nothing to OpenAI; other servers read its text."""
        if not isinstance(part, Reasoning) or part.issuer != self._issuer or not part.payload:
            return None
        back = self._profile.reasoning_back
        is_read = back == "always" or (back == "with_tools" and bool(message.calls))
        return part.payload if is_read or part.payload.get("encrypted_content") else None

    def _own(self, part: Text | ToolCall, *, bound: bool) -> dict[str, Any]:
        own: dict[str, Any] = (part.payload or {}).get(self._issuer) or {}
        return own if bound else {key: value for key, value in own.items() if key not in _ITS_PLACE}

    def _call(self, call: ToolCall, *, bound: bool) -> dict[str, Any]:
        return {
            **self._own(call, bound=bound),
            "type": "function_call",
            "call_id": self._ids.name(call),
            "name": sent_name(call.name),
            "arguments": sent_arguments(call.arguments),
        }


def _said(text: str, own: dict[str, Any]) -> dict[str, Any]:
    if "id" not in own:
        return {**own, "type": "message", "role": "assistant", "content": text}  # llama.cpp knows it by its type only
    content = [{"type": "output_text", "text": text, "annotations": list[Any]()}]
    return {"status": "completed", **own, "type": "message", "role": "assistant", "content": content}


def _tool(tool: ToolSpec, profile: Profile) -> dict[str, Any]:
    """A tool. What this API does by itself, `strict`, would change the schema."""
    described = {"name": tool.name, "description": tool.description, "parameters": schema_for(profile, tool.parameters)}
    return {"type": "function", **described, "strict": False}


def _text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def _picture(url: str) -> dict[str, Any]:
    return {"type": "input_image", "image_url": url, "detail": "auto"}
