"""What an issuer wants back on a message as it was: vendors' members, and reasoning as OpenRouter passes it on.

Sources: https://ai.google.dev/gemini-api/docs/openai, https://openrouter.ai/docs/use-cases/reasoning-tokens.
"""

from typing import Any

from talaria.core.messages import Reasoning
from talaria.core.text import valid_json
from talaria.models.loose_json import as_object, objects
from talaria.models.openai.chunks import ChunkDelta

_JOINED = ("text", "summary")
_FLAG = {"thought": True}


class Kept:
    """Keeps `extra_content` and joins the fragments of `reasoning_details`, in order of first appearance."""

    __slots__ = ("_by_index", "_details", "_extra")

    def __init__(self) -> None:
        self._extra: dict[str, Any] = {}
        self._details: list[dict[str, Any]] = []
        self._by_index: dict[tuple[int, str], dict[str, Any]] = {}

    def take(self, delta: ChunkDelta) -> str:
        """Take in what a delta has of it; return the words of its details."""
        for name, own in as_object(delta.extra_content).items():
            if own != _FLAG:
                self._extra[name] = own
        return "".join([self._take(each) for each in objects(delta.reasoning_details)])

    def parts(self, issuer: str) -> tuple[Reasoning, ...]:
        """Return the part of the message that carries it; none where there is nothing to carry."""
        payload: dict[str, Any] = {"extra_content": self._extra} if self._extra else {}
        if self._details:
            payload["reasoning_details"] = self._details
        return (Reasoning("", issuer, valid_json(payload)),) if payload else ()

    def _take(self, fragment: dict[str, Any]) -> str:
        words = {name: value for name in _JOINED if isinstance(value := fragment.get(name), str)}
        entry = self._entry(fragment)
        before = {name: entry.get(name) or "" for name in words}
        entry.update({name: value for name, value in fragment.items() if value is not None or name not in entry})
        entry.update({name: before[name] + value for name, value in words.items()})
        return "".join(words.values())

    def _entry(self, fragment: dict[str, Any]) -> dict[str, Any]:
        """The entry that a fragment is of: one of the same index and type, unless its data is encrypted, so whole."""
        index, kind = fragment.get("index"), fragment.get("type")
        key = (index, kind) if isinstance(index, int) and isinstance(kind, str) and "data" not in fragment else None
        if key in self._by_index:
            return self._by_index[key]
        entry: dict[str, Any] = {}
        self._details.append(entry)
        if key:
            self._by_index[key] = entry
        return entry
