"""What a model says: text and reasoning, piece by piece, and as the parts of a message at the end."""

from typing import Any

from talaria.core.messages import AssistantPart, Reasoning, Text
from talaria.core.text import TextJoiner
from talaria.ports.model import Delta, ReasoningDelta, TextDelta


class Speech:
    """Makes deltas of pieces of text and reasoning, and keeps what was said. No delta is empty."""

    __slots__ = ("_issuer", "_joiner", "_parts", "_pieces", "_refusal", "_thinking")

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._joiner = TextJoiner()
        self._parts: list[AssistantPart] = []
        self._pieces: list[str] = []
        self._thinking = False
        self._refusal = 0

    def text(self, piece: str, out: list[Delta]) -> None:
        """Say a piece of the answer."""
        if self._thinking:
            self._turn(out)
        joiner = self._joiner
        said = piece if joiner.is_clean and piece.isascii() and "\x00" not in piece else joiner.feed(piece)
        if said:
            self._pieces.append(said)
            out.append(TextDelta(said))

    def reasoning(self, piece: str, out: list[Delta]) -> None:
        """Say a piece of the reasoning."""
        if not self._thinking:
            self._turn(out)
        said = self._joiner.feed(piece)
        if said:
            self._pieces.append(said)
            out.append(ReasoningDelta(said))

    def refusal(self, piece: str, out: list[Delta]) -> None:
        """Say a piece of a refusal: text that stands in the answer's place."""
        self._refusal += len(piece)
        self.text(piece, out)

    def close(self, out: list[Delta], payload: dict[str, Any] | None = None) -> None:
        """The part is over. With a payload it is reasoning, even if nothing was said."""
        if payload is not None and not self._thinking:
            self._turn(out)
        self.end(out)
        if self._pieces or payload is not None:
            self._parts.append(self._part(payload))
            self._pieces = []

    def end(self, out: list[Delta]) -> None:
        """Nothing more will be said: say what was still held back."""
        said = self._joiner.end()
        if said:
            self._pieces.append(said)
            out.append(ReasoningDelta(said) if self._thinking else TextDelta(said))

    @property
    def is_only_refusal(self) -> bool:
        """Whether the model refused, and said nothing else."""
        said = sum(len(part.text) for part in self.parts() if isinstance(part, Text))
        return 0 < said <= self._refusal

    @property
    def is_silent(self) -> bool:
        """Whether nothing was said."""
        return not self._parts and not self._pieces

    def parts(self) -> tuple[AssistantPart, ...]:
        """Everything said so far, as parts of a message."""
        return (*self._parts, self._part()) if self._pieces else tuple(self._parts)

    def _part(self, payload: dict[str, Any] | None = None) -> AssistantPart:
        text = "".join(self._pieces)
        return Reasoning(text, self._issuer, payload) if self._thinking else Text(text)

    def _turn(self, out: list[Delta]) -> None:
        self.close(out)
        self._thinking = not self._thinking
