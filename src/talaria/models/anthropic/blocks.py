"""The content blocks of one reply: text, thinking and calls, in the order in which the model wrote them."""

from typing import Any

import msgspec

from talaria.core.messages import AssistantPart
from talaria.core.text import valid_json
from talaria.models.anthropic.events import EventDelta
from talaria.models.calls import Draft
from talaria.models.loose_json import as_object, as_string
from talaria.models.speech import Speech
from talaria.ports.model import Delta

_KNOWN = frozenset(("type", "id", "name", "input"))


class Blocks:
    """Opens, fills and closes blocks. A thinking block that was closed has its signature as payload."""

    __slots__ = ("_drafts", "_issuer", "_open", "_places", "_thinking", "notes", "speech")

    def __init__(self, issuer: str, notes: list[str]) -> None:
        self._issuer = issuer
        self._drafts: dict[int, Draft] = {}
        self._places: list[tuple[int, Draft]] = []  # calls, and how many parts of the speech stand before each
        self._open: set[int] = set()  # calls that are not closed
        self._thinking: dict[str, Any] | None = None
        self.notes = notes
        self.speech = Speech(issuer)

    def start(self, index: int, value: Any, out: list[Delta]) -> None:
        """A block begins; compatible servers may have put all of it in here."""
        block = as_object(value)
        match kind := block.get("type"):
            case "text":
                self.add(index, EventDelta("text_delta", text=as_string(block.get("text"))), out)
            case "thinking":
                self._thinking = {"type": "thinking", "signature": as_string(block.get("signature"))}
                self.add(index, EventDelta("thinking_delta", thinking=as_string(block.get("thinking"))), out)
            case "redacted_thinking":
                self._thinking = {"type": "redacted_thinking", "data": as_string(block.get("data"))}
            case "tool_use":
                self.speech.close(out)
                self._call(index, block)
            case _:
                self.notes.append(f"a content block of type {str(kind)[:100]!r} is not known; it is left out")

    def add(self, index: int, delta: EventDelta, out: list[Delta]) -> None:
        """A piece of a block."""
        match delta.type:
            case "text_delta" if delta.text:
                self.speech.text(delta.text, out)
            case "thinking_delta" if delta.thinking:
                self.speech.reasoning(delta.thinking, out)
            case "signature_delta" if self._thinking is not None:
                self._thinking["signature"] = delta.signature
            case "input_json_delta":
                draft = self._drafts.get(index)
                if draft is not None and delta.partial_json and not draft.sealed:
                    draft.pieces.append(delta.partial_json)
            case _:
                pass

    def stop(self, index: int, out: list[Delta]) -> None:
        """A block is over."""
        if index in self._drafts:
            self._open.discard(index)
            return
        self.speech.close(out, valid_json(self._thinking))
        self._thinking = None

    @property
    def has_open(self) -> bool:
        """Whether a call is not over."""
        return any(not draft.is_whole for index, draft in self._drafts.items() if index in self._open)

    def finish(self, *, is_cut: bool, is_refused: bool) -> tuple[tuple[AssistantPart, ...], int]:
        """Return the parts of the message, and how many calls were cut off, which are not in it.

        A refused answer has no calls: what the model began is not to be done.
        """
        parts = list(self.speech.parts())
        cut = 0
        for place, draft in reversed(self._places):
            if is_refused or not self._is_complete(draft, is_cut=is_cut):
                cut += 1
            else:
                parts.insert(place, draft.call(self._issuer))
        return tuple(parts), cut

    def _is_complete(self, draft: Draft, *, is_cut: bool) -> bool:
        if draft.is_whole:
            return True
        if draft.index in self._open or not draft.name.strip():
            return False
        return not is_cut or (draft.is_empty and draft is not self._places[-1][1])

    def _call(self, index: int, block: dict[str, Any]) -> None:
        draft = self._drafts[index] = Draft(as_string(block.get("id")), index)
        self._places.append((len(self.speech.parts()), draft))
        self._open.add(index)
        draft.name = as_string(block.get("name"))
        draft.extra = {key: value for key, value in block.items() if key not in _KNOWN and value is not None}
        if whole := as_object(block.get("input")):
            draft.pieces = [msgspec.json.encode(valid_json(whole)).decode()]
            draft.sealed = True
