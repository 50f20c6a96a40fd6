"""Thoughts within the content, as Gemini writes them: flagged, and between the tags `<thought>` and `</thought>`.

Source: https://ai.google.dev/gemini-api/docs/openai.
"""

from typing import Any, cast

_OPEN = "<thought>"
_CLOSE = "</thought>"


def is_thought(extra: object) -> bool:
    """Whether a delta's `extra_content`, {vendor: {…}}, flags its content as a thought."""
    vendors = cast("dict[str, Any]", extra).values() if isinstance(extra, dict) else ()
    return any(isinstance(each, dict) and cast("dict[str, Any]", each).get("thought") is True for each in vendors)


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
        thought, text = self._inside(piece) if self._is_inside else self._before(piece, flagged=flagged)
        self.is_open = self._is_inside or bool(self._held)
        return thought, text

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
        thought, tag, text = (self._held + piece).partition(_CLOSE)
        self._held = ""
        if tag:
            self._is_inside = False
            return thought, text
        for size in range(min(len(thought), len(_CLOSE) - 1), 0, -1):
            if _CLOSE.startswith(thought[-size:]):
                self._held = thought[-size:]
                return thought[:-size], ""
        return thought, ""
