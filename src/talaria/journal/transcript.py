"""Messages as the wire shows them: what GET /sessions/{id} returns, and what transcripts hold."""

from collections.abc import Sequence
from typing import Any

from talaria.core.messages import AssistantMessage, File, Image, Message, SystemMessage, ToolMessage, UserMessage


def wire_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation as people see it: without answers that were taken back, and what was said of them."""
    shown: list[dict[str, Any]] = []
    for message in messages:
        if not isinstance(message, UserMessage) or message.parts:
            shown.append(wire_message(message))
        elif shown and shown[-1]["role"] == "assistant":
            shown.pop()
    return shown


def wire_message(message: Message) -> dict[str, Any]:
    """Return a message as JSON values: {role, content, reasoning?, toolCalls?, toolCallId?, attachments?, …}."""
    match message:
        case SystemMessage():
            return {"role": "system", "content": message.text}
        case UserMessage():
            return _user(message)
        case ToolMessage():
            out: dict[str, Any] = {"role": "tool", "toolCallId": message.call_id, "name": message.name}
            out["content"] = message.text
            return out | ({"isError": True} if message.is_error else {})
        case AssistantMessage():
            return _assistant(message)


def _user(message: UserMessage) -> dict[str, Any]:
    """What was attached stands beside what was said: people may download it."""
    attached = [part for part in message.parts if isinstance(part, (Image, File)) and part.blob]
    said = [_part(part) for part in message.parts if part not in attached]
    out: dict[str, Any] = {"role": "user", "content": "\n".join(said)}
    if attached:
        views = ({"artifactId": part.blob, "name": part.name, "mimeType": part.media_type} for part in attached)
        out["attachments"] = list(views)
    return out


def _assistant(message: AssistantMessage) -> dict[str, Any]:
    out: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.reasoning:
        out["reasoning"] = message.reasoning
    if message.calls:
        out["toolCalls"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    if message.incomplete:
        out["incomplete"] = True
    return out


def _part(part: object) -> str:
    match part:
        case Image():
            return f"[image {part.media_type}]"
        case File():
            return f"[file {part.name}]\n{part.text}"
        case _:
            return str(getattr(part, "text", ""))
