"""Content blocks: what is said in a message, as the Messages API takes it. No block of text is blank."""

from typing import Any

import msgspec

from talaria.core.messages import Image, Text, ToolMessage, UserPart
from talaria.core.text import loads
from talaria.models.plain_schema import schema_for
from talaria.models.sent_calls import NOTHING
from talaria.models.shown import result_as_text, shown
from talaria.ports.model import ToolSpec
from talaria.ports.profile import Profile

Block = dict[str, Any]
_PICTURES = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def text(words: str) -> list[Block]:
    """Return a block of text; none for blank text, which is refused."""
    return [{"type": "text", "text": words}] if words.strip() else []


def user(parts: tuple[UserPart, ...], *, vision: bool) -> list[Block]:
    """Return what a person said; files and what cannot be shown are text."""
    blocks: list[Block] = []
    for part in parts:
        if vision and isinstance(part, Image) and part.data and part.media_type in _PICTURES:
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            blocks.append({"type": "image", "source": source})
        else:
            blocks += text(shown(part))
    return blocks


def result(message: ToolMessage, call_id: str, *, vision: bool) -> Block:
    """Return the result of a call: as text, or as blocks where there are pictures that can be shown."""
    if message.images and vision:
        content = user((Text(message.text), *message.images), vision=True)
    else:
        content = words if (words := result_as_text(message)).strip() else NOTHING
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**block, "is_error": True} if message.is_error else block


def arguments(written: str) -> Any:
    """Return a call's `input`, which must be an object: as the model wrote it, or inside one if that is none."""
    try:
        _decode(written)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _repaired(written)
    return msgspec.Raw(written.encode())


def _repaired(written: str) -> Block:
    try:
        value = loads(written)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"invalid_arguments": written}  # pyright: ignore[reportUnknownVariableType]


def tool(spec: ToolSpec, profile: Profile) -> Block:
    """Return a tool as the model sees it."""
    about = {"description": spec.description} if spec.description else {}
    return {"name": spec.name, **about, "input_schema": schema_for(profile, spec.parameters)}
