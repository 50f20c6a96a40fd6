"""What a person's message has for a model, and its parts as text, for models and dialects that take nothing else."""

from collections.abc import Callable
from typing import Any, assert_never

from talaria.core.messages import File, Image, Text, ToolMessage, UserMessage, UserPart


def shown(part: UserPart) -> str:
    """Return what a model reads in the place of this part."""
    match part:
        case Text():
            return part.text
        case Image():
            return f"[an image of type {part.media_type} that cannot be shown here]"
        case File():
            lack = (
                f"[it is {part.place}]"
                if part.place
                else f"[content of type {part.media_type} that cannot be shown here]"
            )
            return f"File {part.name}:\n{part.text or lack}"
        case _:
            assert_never(part)


def parts_of(message: UserMessage) -> tuple[UserPart, ...]:
    """Return what a message has for the model: what the person said, where its pictures lie, and when."""
    placed = [part for part in message.parts if isinstance(part, Image) and part.place]
    where = tuple(Text(f"[The image {part.name} is {part.place}]") for part in placed)
    return (*message.parts, *where, Text(message.sent)) if message.sent else (*message.parts, *where)


def as_text(message: UserMessage) -> str:
    """Return all of it as one text."""
    return "\n\n".join(text for part in parts_of(message) if (text := shown(part)))


def result_as_text(message: ToolMessage) -> str:
    """Return the result of a call for a model that sees no pictures."""
    return "\n\n".join([message.text, *map(shown, message.images)]) if message.images else message.text


def data_url(image: Image) -> str:
    """Return a picture as most providers take it."""
    return f"data:{image.media_type};base64,{image.data}"


def has_picture(message: UserMessage) -> bool:
    """Whether there is an image that can be sent."""
    return any(isinstance(part, Image) and part.data for part in message.parts)


def content_of(
    message: UserMessage, *, vision: bool, text: Callable[[str], Any], picture: Callable[[str], Any]
) -> str | list[Any]:
    """Return a message as one text; with pictures, where the model sees them, as parts: each picture as a data URL."""
    if not vision or not has_picture(message):
        return as_text(message)
    parts: list[Any] = []
    for part in parts_of(message):
        if isinstance(part, Image) and part.data:
            parts.append(picture(data_url(part)))
        elif said := shown(part):
            parts.append(text(said))
    return parts
