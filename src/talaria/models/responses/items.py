"""Output items of one response: what is said in each, piece by piece, and the parts of a message that they become."""

from typing import Any

import msgspec

from talaria.core.messages import AssistantPart, Reasoning, Text, ToolCall
from talaria.core.text import TextJoiner, valid_json, valid_text
from talaria.models.calls import is_object
from talaria.models.loose_json import as_string, objects
from talaria.ports.model import Delta, ReasoningDelta, TextDelta

MESSAGE, REASONING, CALL = "message", "reasoning", "function_call"
KINDS = frozenset((MESSAGE, REASONING, CALL))
_SAID = {
    MESSAGE: frozenset(("type", "role", "content")),
    REASONING: frozenset[str](),
    CALL: frozenset(("type", "name", "call_id", "arguments")),
}


class Item:
    """One output item. `own` is what a whole one has besides what was said: its issuer's, sent back unchanged."""

    __slots__ = ("_joiner", "_pieces", "_section", "arguments", "call_id", "is_whole", "kind", "name", "own", "refused")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = ""
        self.call_id = ""
        self.arguments = ""
        self.own: dict[str, Any] = {}
        self.is_whole = False
        self.refused = 0
        self._joiner = TextJoiner()
        self._pieces: list[str] = []
        self._section: Any = None

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._pieces)

    def say(self, piece: str, out: list[Delta]) -> None:
        """Say a piece of text, or of reasoning."""
        joiner = self._joiner
        said = piece if joiner.is_clean and piece.isascii() and "\x00" not in piece else joiner.feed(piece)
        if said:
            self._pieces.append(said)
            out.append(ReasoningDelta(said) if self.kind == REASONING else TextDelta(said))

    def refuse(self, piece: str, out: list[Delta]) -> None:
        """Say a piece of a refusal: text that stands in the answer's place."""
        self.refused += len(piece)
        self.say(piece, out)

    def section(self, section: Any, out: list[Delta]) -> None:
        """What follows belongs to this section of the reasoning: sections are paragraphs."""
        if self._section not in (None, section) and self._pieces:
            self.say("\n\n", out)
        self._section = section

    def end(self, out: list[Delta]) -> None:
        """Nothing more will be said: say what was still held back."""
        said = self._joiner.end()
        if said:
            self._pieces.append(said)
            out.append(ReasoningDelta(said) if self.kind == REASONING else TextDelta(said))

    def is_another_call(self, item: dict[str, Any]) -> bool:
        """Whether `item` is a call and not this one, though the server gave both one index."""
        call_id = as_string(item.get("call_id"))
        return bool(call_id and self.call_id) and call_id != self.call_id

    def begin(self, item: dict[str, Any]) -> None:
        """Take in the item as it was when it was announced."""
        self.name = as_string(item.get("name")) or self.name
        self.call_id = as_string(item.get("call_id")) or self.call_id
        self._argue(item.get("arguments"))

    def finish(self, item: dict[str, Any], out: list[Delta]) -> bool:
        """Take in the whole item, which has the last word; return False where something else had been said before."""
        self.begin(item)
        self.end(out)
        self.is_whole = item.get("status") != "incomplete"
        left_out = _SAID[self.kind]
        own = {key: value for key, value in item.items() if value is not None and key not in left_out}
        self.own = valid_json(own) if self.is_whole else {}
        said, whole = self.text, valid_text(_whole(item))
        if whole.startswith(said):
            self.refused += 0 if said else _refused(item)
            self.say(whole[len(said) :], out)
            return True
        return not whole

    def part(self, issuer: str) -> AssistantPart | None:
        """The part of a message that this item is; None where there is nothing in it."""
        text = self.text
        match self.kind:
            case "function_call":
                arguments = valid_text(self.arguments) if self.arguments.strip() else "{}"
                payload = {issuer: self.own} if self.own else None
                return ToolCall(valid_text(self.call_id), valid_text(self.name.strip()), arguments, payload=payload)
            case "reasoning":
                return Reasoning(text, issuer, self.own or None) if text or self.own else None
            case _:
                return Text(text, {issuer: self.own} if self.own else None) if text else None

    @property
    def is_runnable(self) -> bool:
        """Whether a call is known to be complete, though a limit ended the answer."""
        return self.is_whole and is_object(self.arguments)

    def _argue(self, arguments: Any) -> None:
        if isinstance(arguments, str):
            self.arguments = arguments or self.arguments
        elif arguments:
            self.arguments = msgspec.json.encode(valid_json(arguments)).decode()


def _whole(item: dict[str, Any]) -> str:
    if item.get("type") != REASONING:
        return "".join(as_string(part.get("text") or part.get("refusal")) for part in objects(item.get("content")))
    sections = objects(item.get("summary")) or objects(item.get("content"))
    return "\n\n".join(text for section in sections if (text := as_string(section.get("text"))))


def _refused(item: dict[str, Any]) -> int:
    return sum(len(as_string(part.get("refusal"))) for part in objects(item.get("content")))
