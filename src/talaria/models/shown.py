"""Parts of a person's message as text, for models and dialects that take nothing else."""

from typing import assert_never

from talaria.core.messages import File, Image, Text, UserPart


def shown(part: UserPart) -> str:
    """Return what a model reads in the place of this part."""
    match part:
        case Text():
            return part.text
        case Image():
            return f"[an image of type {part.media_type} that cannot be shown here]"
        case File():
            text = part.text or f"[content of type {part.media_type} that cannot be shown here]"
            return f"File {part.name}:\n{text}"
        case _:
            assert_never(part)
