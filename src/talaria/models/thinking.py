"""How a model is told to think, or not to: members of its request, out of its profile."""

from functools import lru_cache
from typing import Any

import msgspec

from talaria.ports.model import ModelRequest
from talaria.ports.profile import Profile


def thinking_members(request: ModelRequest, profile: Profile) -> dict[str, Any]:
    """Return what the request's JSON object has for its `thinking`; nothing when the provider's default is wanted."""
    match request.thinking:
        case "enabled":
            return members_of(profile.thinking_on)
        case "disabled":
            return members_of(profile.thinking_off)
        case None:
            return {}


@lru_cache(maxsize=256)
def members_of(text: str) -> dict[str, Any]:
    """Return the members of an object that a profile has as JSON text; nothing for no text. Not to be changed."""
    return msgspec.json.decode(text, type=dict[str, Any]) if text else {}
