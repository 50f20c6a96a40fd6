"""How earlier reasoning goes back: in a field or as a part of the content, and the issuer's own members unchanged."""

from typing import Any

from talaria.core.messages import AssistantMessage, Reasoning
from talaria.ports.profile import Profile


def reasoning_members(message: AssistantMessage, issuer: str, profile: Profile) -> dict[str, Any]:
    """Return what an assistant message has for the reasoning that this issuer gave with it."""
    mine = [part for part in message.parts if isinstance(part, Reasoning) and part.issuer == issuer]
    if not mine and profile.reasoning_fill is None:
        return {}
    members: dict[str, Any] = {}
    for part in mine:
        members |= part.payload or {}
    wanted = profile.reasoning_back == "always" or (profile.reasoning_back == "with_tools" and message.calls)
    text = "".join(part.text for part in mine) if wanted else ""
    if profile.reasoning_field == "content":
        return members | ({"content": _parts(text, message.text)} if text else {})
    if not text and message.calls and profile.reasoning_fill is not None:
        return members | {profile.reasoning_field: profile.reasoning_fill}
    return members | ({profile.reasoning_field: text} if text else {})


def _parts(thought: str, text: str) -> list[dict[str, Any]]:
    """The content as Mistral writes it (https://docs.mistral.ai/capabilities/reasoning)."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": thought}], "closed": True}
    return [thinking, {"type": "text", "text": text}] if text else [thinking]
