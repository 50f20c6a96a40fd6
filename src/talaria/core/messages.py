"""Messages of a conversation, independent of any provider."""

from typing import Any

import msgspec


class Text(msgspec.Struct, frozen=True, gc=False, tag="text", omit_defaults=True):
    """A piece of text. `payload` is as that of a ToolCall."""

    text: str
    payload: dict[str, Any] | None = None


class Image(msgspec.Struct, frozen=True, gc=False, tag="image", omit_defaults=True):
    """A picture: base64 `data` or a `blob` reference, with its media type. `name`, `place`: as in File."""

    media_type: str
    data: str = ""
    blob: str = ""
    name: str = ""
    place: str = ""


class File(msgspec.Struct, frozen=True, gc=False, tag="file", omit_defaults=True):
    """A file handed over with a message: its text where the model gets it, else a `blob` reference.

    `place` is where it lies in the session's workspace, if it does.
    """

    name: str
    media_type: str = "text/plain"
    text: str = ""
    blob: str = ""
    place: str = ""


class Reasoning(msgspec.Struct, frozen=True, gc=False, tag="reasoning", omit_defaults=True):
    """What the model thought. `payload` is its issuer's own and goes back to that issuer only, unchanged."""

    text: str
    issuer: str = ""
    payload: dict[str, Any] | None = None


class ToolCall(msgspec.Struct, frozen=True, gc=False, tag="tool_call", omit_defaults=True):
    """A call the model decided on.

    `id` is unique in its run; `provider_id` is what the provider called it, where that differs. `name` is the tool's;
    `written` is what the model wrote for it, where that differs. `arguments` is the JSON text the model wrote.
    `payload` is {issuer: its own (a signature)}, sent back unchanged.
    """

    id: str
    name: str
    arguments: str = "{}"
    provider_id: str = ""
    payload: dict[str, Any] | None = None
    written: str = ""


UserPart = Text | Image | File
AssistantPart = Text | Reasoning | ToolCall


class UserMessage(msgspec.Struct, frozen=True, gc=False, tag="user", omit_defaults=True):
    """What a person said. `sent` is the harness's word to the model (when it was said): people do not see it.

    It follows the parts. A message without parts is the harness's own.
    """

    parts: tuple[UserPart, ...]
    sent: str = ""


class AssistantMessage(msgspec.Struct, frozen=True, gc=False, tag="assistant", omit_defaults=True):
    """What a model said, its parts in the order in which they came. `incomplete`: the model was cut off."""

    parts: tuple[AssistantPart, ...] = ()
    model: str = ""
    incomplete: bool = False

    @property
    def text(self) -> str:
        """The answer: all text parts joined."""
        return "".join([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def reasoning(self) -> str:
        """All reasoning parts joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Reasoning))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in the model's order."""
        if len(self.parts) == 1:  # as most messages are; this is asked for often
            (part,) = self.parts
            return (part,) if isinstance(part, ToolCall) else ()
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])


class ToolMessage(msgspec.Struct, frozen=True, gc=False, tag="tool", omit_defaults=True):
    """The answer to the call `call_id`: the text that the model gets, and pictures, if it sees any."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


class SystemMessage(msgspec.Struct, frozen=True, gc=False, tag="system"):
    """An instruction of the harness or of a client's own history."""

    text: str


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage
