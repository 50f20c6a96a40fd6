"""Writes messages and tools as Messages JSON, each once: a conversation's requests are joins of these bytes.

The marks for the provider's cache move from request to request, so they are put between the bytes, never into them:
whatever is written lacks its last brace, before which a mark may go.
"""

from collections.abc import Sequence
from typing import Final, assert_never

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
from talaria.models.anthropic import content
from talaria.models.anthropic.content import Block
from talaria.models.sent_calls import CallIds, sent_name
from talaria.models.shown import parts_of
from talaria.ports.model import Prompt
from talaria.ports.profile import Profile

MARK: Final = b',"cache_control":{"type":"ephemeral"}'
LONGEST_ID: Final = 64
BEGIN: Final = "(The conversation begins here.)"
GO_ON: Final = "Go on."
_THOUGHTS = frozenset(("thinking", "redacted_thinking"))
_encode = msgspec.json.Encoder().encode


class EncodedPrompt:
    """A prompt's system, tools and messages. Neighbours of one role are one message."""

    __slots__ = (
        "_asked",
        "_count",
        "_has_results",
        "_ids",
        "_issuer",
        "_messages",
        "_profile",
        "_role",
        "_thought",
        "system",
        "tools",
    )

    def __init__(self, prompt: Prompt, issuer: str, profile: Profile) -> None:
        self._issuer = issuer
        self._profile = profile
        self._ids = CallIds(LONGEST_ID, plain=True)
        self._count = 0
        self._messages: list[bytes] = []
        self._role = ""
        self._asked = 0  # how many pieces the request had that was answered last
        self._has_results = False
        self._thought = False
        self.tools = b",".join(_encode(content.tool(tool, profile)) for tool in prompt.tools)[:-1]
        self.system = b",".join(map(_encode, content.text(prompt.system)))[:-1]

    def catch_up(self, prompt: Prompt) -> None:
        """Encode the messages that are new since the last time."""
        for message in prompt.messages[self._count :]:
            self._take(message)
        self._count = len(prompt.messages)

    def messages(self, mark: bytes) -> Sequence[bytes]:
        """Return the pieces of the array of messages, marked where the last request ended and where this one does."""
        if not self._messages:
            return (b"[]",)
        asked = self._asked
        before = (*self._messages[:asked], mark) if asked else ()
        return (b"[", *before, *self._messages[asked:], *self._end(mark), b"}]}]")

    @property
    def thinks_no_more(self) -> bool:
        """Whether a round of calls is under way that did not begin with thinking of this model."""
        return self._has_results and not self._thought

    def _end(self, mark: bytes) -> Sequence[bytes]:
        """The model never goes on in a message of its own: current ones refuse that."""
        if self._role == "user":
            return (mark,)
        return (b'}]},{"role":"user","content":[', _encode(content.text(GO_ON)[0])[:-1], mark)

    def _take(self, message: Message) -> None:
        match message:
            case SystemMessage():
                self._instruct(message.text)
            case UserMessage():
                self._add("user", content.user(parts_of(message), vision=self._profile.vision))
            case AssistantMessage():
                self._add("assistant", self._assistant(message))
            case ToolMessage():
                self._add("user", [content.result(message, self._ids.of(message.call_id), vision=self._profile.vision)])
                self._has_results = True
            case _:
                assert_never(message)

    def _instruct(self, text: str) -> None:
        """Instructions belong to the system prompt; later ones stay where they are, so that nothing before changes."""
        blocks = content.text(text)
        if self._messages:
            self._add("user", blocks)
        elif blocks:
            before = self.system + b"}," if self.system else b""
            self.system = before + _encode(blocks[0])[:-1]

    def _add(self, role: str, blocks: list[Block]) -> None:
        if not blocks:
            return
        if role != self._role:
            self._turn(role, blocks)
        else:
            self._messages.append(b"},")
        self._messages.append(b",".join(map(_encode, blocks))[:-1])

    def _turn(self, role: str, blocks: list[Block]) -> None:
        if role == "assistant":
            if not self._messages:
                self._add("user", content.text(BEGIN))
            self._asked = len(self._messages)
            if not self._has_results:
                self._thought = blocks[0]["type"] in _THOUGHTS
        self._has_results = False
        end = b"}]}," if self._messages else b""
        self._messages.append(end + b'{"role":"%s","content":[' % role.encode())
        self._role = role

    def _assistant(self, message: AssistantMessage) -> list[Block]:
        """A message of nothing but thinking is of no use to the model, and refused."""
        blocks: list[Block] = []
        if not message.calls and not message.text.strip():
            return blocks
        for part in message.parts:
            match part:
                case Text():
                    blocks += content.text(part.text)
                case Reasoning():
                    blocks += self._thinking(part, has_calls=bool(message.calls))
                case ToolCall():
                    blocks.append(self._call(part))
                case _:
                    assert_never(part)
        return blocks

    def _thinking(self, part: Reasoning, *, has_calls: bool) -> list[Block]:
        back = self._profile.reasoning_back
        is_wanted = back == "always" or (back == "with_tools" and has_calls)
        if not is_wanted or part.payload is None or part.issuer != self._issuer:
            return []
        is_open = part.payload.get("type") == "thinking"
        return [{**part.payload, "thinking": part.text} if is_open else part.payload]

    def _call(self, call: ToolCall) -> Block:
        payload: Block = (call.payload or {}).get(self._issuer) or {}
        name = self._ids.name(call)
        return {
            **payload,
            "type": "tool_use",
            "id": name,
            "name": sent_name(call.name),
            "input": content.arguments(call.arguments),
        }
