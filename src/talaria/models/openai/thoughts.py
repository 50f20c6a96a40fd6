"""Thoughts within the content, as Gemini writes them: flagged, and between the tags `<thought>` and `</thought>`.

Source: https://ai.google.dev/gemini-api/docs/openai.
"""

from typing import Any, cast

_OPEN = "<thought>"
_CLOSE = "</thought>"
FLAG = {"google": {"thought": True}}
"""The `extra_content` of most thoughts: nothing but the flag."""


def is_thought(extra: object) -> bool:
    """Whether a delta's `extra_content`, {vendor: {…}}, flags its content as a thought."""
    if isinstance(extra, dict):
        for own in cast("dict[str, Any]", extra).values():
            if isinstance(own, dict) and cast("dict[str, Any]", own).get("thought") is True:
                return True
    return False


class Thoughts:
    """Tells thoughts from text. Tags may be cut anywhere, and the flag be missing between them.

    A tag counts only at the beginning of what is flagged; `is_open` says that what comes next may be a thought.
    """

    __slots__ = ("_held", "_is_inside", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._is_inside = False
        self._held = ""

    def split(self, piece: str, *, flagged: bool) -> tuple[str, str]:
        """Return the thought and the text that a piece of content is."""
        if not (flagged or self.is_open):
            return "", piece
        split = self._inside(piece) if self._is_inside else self._before(piece, flagged=flagged)
        self.is_open = self._is_inside or bool(self._held)
        return split

    def end(self) -> str:
        """Nothing more will come: return what was held back of a thought."""
        held, self._held = self._held, ""
        return held

    def _before(self, piece: str, *, flagged: bool) -> tuple[str, str]:
        held, self._held = self._held, ""
        begun = held + piece
        if begun.startswith(_OPEN):
            self._is_inside = True
            return self._inside(begun[len(_OPEN) :])
        if _OPEN.startswith(begun):
            self._held = begun
            return "", ""
        return (begun, "") if flagged else (held, piece)

    def _inside(self, piece: str) -> tuple[str, str]:
        if self._held:
            piece, self._held = self._held + piece, ""
        if "<" not in piece:
            return piece, ""
        thought, tag, text = piece.partition(_CLOSE)
        if tag:
            self._is_inside = False
            return thought, text
        last = thought.rindex("<")
        if _CLOSE.startswith(thought[last:]):
            self._held = thought[last:]
            return thought[:last], ""
        return thought, ""
