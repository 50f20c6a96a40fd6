"""A conversation as plain text, for protocols that take one text instead of messages."""

from collections.abc import Iterator
from typing import assert_never

from talaria.core.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from talaria.models.shown import as_text, result_as_text
from talaria.ports.model import Prompt


def as_prompt(prompt: Prompt, *, with_system: bool) -> str:
    """Return the whole conversation, a paragraph each: `user: …`, `assistant: …`, `tool NAME: …`."""
    system = [f"system: {prompt.system}"] if with_system and prompt.system else []
    return "\n\n".join([*system, *(line for message in prompt.messages for line in _lines(message))])


def newest_query(prompt: Prompt) -> str:
    """Return what the person said last."""
    newest = (message for message in reversed(prompt.messages) if isinstance(message, UserMessage))
    return next((as_text(message) for message in newest), "")


def _lines(message: Message) -> Iterator[str]:
    match message:
        case SystemMessage():
            yield f"system: {message.text}"
        case UserMessage():
            yield f"user: {as_text(message)}"
        case AssistantMessage():
            if message.text:
                yield f"assistant: {message.text}"
            yield from (f"assistant calls {call.name}: {call.arguments}" for call in message.calls)
        case ToolMessage():
            yield f"tool {message.name}: {result_as_text(message)}"
        case _:
            assert_never(message)
