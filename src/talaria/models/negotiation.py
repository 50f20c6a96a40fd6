"""What a request wants and a model does not take: done without, and said so; or refused, where that would be wrong."""

from collections.abc import Sequence

import msgspec

from talaria.core.errors import CapabilityMissing
from talaria.core.messages import Image, ToolMessage, UserMessage
from talaria.ports.model import ModelRequest
from talaria.ports.profile import Profile, When


def negotiate(request: ModelRequest, profile: Profile) -> tuple[ModelRequest, Sequence[str]]:
    """Return what can be asked of a model with this profile, and a sentence for each thing that is done without.

    Raises:
        CapabilityMissing: the model cannot do what the request is for.
    """
    if lacking := missing(request, profile):
        raise CapabilityMissing(lacking)
    left: list[str] = []
    changed = _thinking(request, profile, left)
    thinks = _thinks(profile, changed.get("thinking", request.thinking))
    if request.temperature is not None and not _may(profile.sampling, thinks=thinks):
        changed["temperature"] = None
        left.append(f"{request.model} takes no temperature{_when(profile.sampling)}; it answers with its own.")
    if request.tool_choice == "required" and not _may(profile.forced_choice, thinks=thinks):
        changed["tool_choice"] = "auto"
        left.append(f"{request.model} cannot be made to call a tool{_when(profile.forced_choice)}; it is asked to.")
    if profile.max_output and request.max_tokens is not None and request.max_tokens > profile.max_output:
        changed["max_tokens"] = profile.max_output
        left.append(f"{request.model} writes {profile.max_output} tokens at most, not {request.max_tokens}.")
    if not profile.vision and has_new_image(request):
        left.append(f"{request.model} sees no images; it is told that there is one.")
    return (msgspec.structs.replace(request, **changed) if changed else request), left


def missing(request: ModelRequest, profile: Profile) -> str:
    """Say what a model with this profile cannot do though the request is for it; empty when there is nothing."""
    if request.prompt.tools and not profile.tools:
        return (
            f"the model {request.model} cannot call tools, at least not in its route's dialect; "
            "use another model or dialect, or send tools: []"
        )
    if request.output_schema is not None and not profile.json_schema:
        return f"the model {request.model} does not keep to a schema; use another model"
    return ""


def _thinking(request: ModelRequest, profile: Profile, left: list[str]) -> dict[str, object]:
    if request.thinking == "enabled" and profile.reasoning == "never":
        left.append(f"{request.model} does not think before it answers; thinking is left out.")
        return {"thinking": None}
    if request.thinking == "disabled" and profile.reasoning == "always":
        left.append(
            f"{request.model} always thinks; it is asked to think little."
            if profile.thinking_off
            else f"{request.model} always thinks; that cannot be turned off."
        )
    if request.thinking == "disabled" and profile.reasoning == "never":
        return {"thinking": None}
    if request.prompt.tools and not profile.thinking_with_tools and _thinks(profile, request.thinking):
        if request.thinking == "enabled":
            left.append(f"{request.model} does not think while it has tools; thinking is turned off.")
        return {"thinking": "disabled"}
    return {}


def _thinks(profile: Profile, thinking: object) -> bool:
    if thinking is None:
        return profile.reasoning in {"by_default", "always"}
    return thinking == "enabled" or profile.reasoning == "always"


def _may(when: When, *, thinks: bool) -> bool:
    return when == "always" or (when == "without_thinking" and not thinks)


def _when(when: When) -> str:
    return " while it thinks" if when == "without_thinking" else ""


def has_new_image(request: ModelRequest) -> bool:
    """Whether the newest message of a person, or a result since, has an image."""
    for message in reversed(request.prompt.messages):
        if isinstance(message, ToolMessage) and message.images:
            return True
        if isinstance(message, UserMessage):
            return any(isinstance(part, Image) for part in message.parts)
    return False
